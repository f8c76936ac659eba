"""What one person looks at: the session that every tab follows, the races it has seen, and how one begins."""

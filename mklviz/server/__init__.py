"""The server of the dashboard: its addresses, the gate before every page, and the processes that share a port."""

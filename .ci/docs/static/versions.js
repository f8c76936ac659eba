/* The folders of this site's other versions. Where several are published, versions.py writes them here. */
window.versions = [];

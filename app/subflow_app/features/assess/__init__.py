"""`subflow assess` tries a controller against the criteria of RFC 9743 and writes a dossier."""

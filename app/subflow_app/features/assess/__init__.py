"""`subflow assess` tests a controller by the criteria of RFC 9743 and writes a dossier."""

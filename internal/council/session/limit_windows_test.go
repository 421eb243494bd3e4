package session

import "errors"

var errNoLimit = errors.New("no limit of the size of files here")

func limitFiles(uint64) error { return errNoLimit }

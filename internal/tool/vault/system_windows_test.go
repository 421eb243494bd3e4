package vault

import "errors"

func makePipe(string) error { return errors.New("no pipes in folders here") }

func limitFileSize(string) error { return errors.New("no limits on files here") }

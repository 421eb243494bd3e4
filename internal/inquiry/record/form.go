package record

import (
	"github.com/google/uuid"
)

// space is what nothing but leaves a text empty. The schema says the same.
const space = " \t\r\n"

// isUUID says whether a text is a UUID of version 4, with digits of either case.
func isUUID(id string) bool {
	u, err := uuid.Parse(id)
	return err == nil && u.Version() == 4 && u.Variant() == uuid.RFC4122 && len(id) == len(u.String())
}

// mostContradictions is how many contradictions an audit has at most.
const mostContradictions = 200

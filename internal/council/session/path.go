package session

import "path/filepath"

// Path is where the folder of a session lies, for people.
func (s *Store) Path(id string) string { return filepath.Join(s.folder, id) }

package keys

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"filippo.io/age"
)

// sealedFile is the encrypted file: JSON in the age format (age-encryption.org/v1). The age program opens it, too.
type sealedFile struct {
	path          string
	identity      string // the file of the identity that opens it
	identityNamed bool   // the person named the identity: it is not made here
}

// contents is what is encrypted.
type contents struct {
	Version int               `json:"version"`
	Keys    map[string]string `json:"keys"` // by name
}

const (
	version        = 1
	maxBytes       = 1 << 20 // of a file that is read here
	storeAgainHint = "move it away and store the keys again with ‘sibyl config set-key NAME’"
)

// read returns the keys by name, none where there is no file.
func (s sealedFile) read() (map[string]string, error) {
	cipher, err := readPrivate(s.path, "the file of keys")
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	identities, err := s.identities()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s can't be opened, since its identity %s is not there: bring it from where the keys "+
			"were stored, "+
			"name another with SIBYL_AGE_IDENTITY, or %s", s.path, s.identity, storeAgainHint)
	}
	if err != nil {
		return nil, err
	}
	return s.unseal(cipher, identities)
}

// unseal decrypts. Its errors repeat nothing of what was read.
func (s sealedFile) unseal(cipher []byte, identities []age.Identity) (map[string]string, error) {
	plain, err := age.Decrypt(bytes.NewReader(cipher), identities...)
	var noMatch *age.NoIdentityMatchError
	if errors.As(err, &noMatch) {
		return nil, fmt.Errorf("%s is encrypted for another identity than %s: name the right one with "+
			"SIBYL_AGE_IDENTITY, or %s", s.path, s.identity, storeAgainHint)
	}
	damaged := fmt.Errorf("%s is damaged, and is left as it is: restore it, or %s", s.path, storeAgainHint)
	if err != nil {
		return nil, damaged
	}
	text, err := io.ReadAll(io.LimitReader(plain, maxBytes))
	if err != nil {
		return nil, damaged
	}
	var c contents
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, damaged
	}
	if c.Version != version {
		return nil, fmt.Errorf("%s is of version %d, and this program reads version %d: take a later one, or %s",
			s.path, c.Version, version, storeAgainHint)
	}
	if c.Keys == nil {
		c.Keys = map[string]string{}
	}
	return c.Keys, nil
}

// write encrypts the keys, and makes the identity where there is none yet. Without keys there is no file.
func (s sealedFile) write(keys map[string]string) error {
	if len(keys) == 0 {
		if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the file of keys can't be removed: %w", err)
		}
		return nil
	}
	identities, err := s.identities()
	if errors.Is(err, fs.ErrNotExist) && !s.identityNamed {
		identities, err = s.makeIdentity()
	}
	if err != nil {
		return err
	}
	var recipients []age.Recipient
	for _, i := range identities {
		if x, ok := i.(*age.X25519Identity); ok {
			recipients = append(recipients, x.Recipient())
		}
	}
	text, err := json.Marshal(contents{Version: version, Keys: keys})
	if err != nil {
		return fmt.Errorf("the keys can't be written as JSON: %T", err)
	}
	var cipher bytes.Buffer
	w, err := age.Encrypt(&cipher, recipients...)
	if err != nil {
		return fmt.Errorf("the keys can't be encrypted for %s: %w", s.identity, err)
	}
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("the keys can't be encrypted: %w", err)
	}
	return replaceFile(s.path, cipher.Bytes())
}

// identities reads the identity. Its error is fs.ErrNotExist where there is none, and repeats nothing of the file.
func (s sealedFile) identities() ([]age.Identity, error) {
	text, err := readPrivate(s.identity, "the identity that opens the keys")
	if errors.Is(err, fs.ErrNotExist) && s.identityNamed {
		return nil, fmt.Errorf("%w, though SIBYL_AGE_IDENTITY names it: make it with ‘age-keygen -o %s’",
			err, s.identity)
	}
	if err != nil {
		return nil, err
	}
	all, err := age.ParseIdentities(bytes.NewReader(text))
	for _, i := range all {
		if _, ok := i.(*age.X25519Identity); !ok {
			err = errors.New("of another kind")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s holds no X25519 identity of age, or more than that: ‘age-keygen -o FILE’ makes "+
			"one, and SIBYL_AGE_IDENTITY names it", s.identity)
	}
	return all, nil
}

func (s sealedFile) makeIdentity() ([]age.Identity, error) {
	made, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, fmt.Errorf("no identity can be made: %w", err)
	}
	text := fmt.Sprintf("# This opens %s. Keep it to yourself, and apart from that file.\n# public key: %s\n%s\n",
		s.path, made.Recipient(), made)
	return []age.Identity{made}, replaceFile(s.identity, []byte(text))
}

// readPrivate reads a small file that nobody else may read.
func readPrivate(path, what string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", what, err)
	case !info.Mode().IsRegular() || info.Size() > maxBytes:
		return nil, fmt.Errorf("%s, %s, must be a file of at most %d KB", what, path, maxBytes>>10)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s, %s, can be read or written by others (mode %04o) and is not used: chmod 600 %s",
			what, path, info.Mode().Perm(), path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return text, nil
}

//go:build !unix || darwin

package keys

// mayHaveKeyring is true: the keyring is part of the system.
func mayHaveKeyring() bool { return true }

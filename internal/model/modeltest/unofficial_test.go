//go:build !sdk

package modeltest

import "testing"

// readWithOfficialTypes is for builds with the tag sdk, as in CI: the providers' modules take a minute to compile.
func readWithOfficialTypes(t *testing.T, _, _ string) {
	t.Helper()
	t.Log("with -tags=sdk, the official types read the request, too")
}

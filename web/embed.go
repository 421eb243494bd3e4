// Package web is the page that ‘sibyl serve’ shows: what vite makes of src, as it is committed in dist, so that whoever
// builds the program needs no npm. The page uses the HTTP API alone, and asks nothing of any other host.
package web

import "embed"

// Dist are the files of the page: index.html, what a browser needs to install it, and assets, whose names hold the
// hashes of what is in them.
//
//go:embed dist
var Dist embed.FS

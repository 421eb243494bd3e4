package telemetry

import "net/http"

// Through has what is exported go through another transport, as in a time that is not the machine's.
func (t *Telemetry) Through(transport http.RoundTripper) { t.export.client.Transport = transport }

package cli

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"sibyl/internal/app"
	"sibyl/internal/council/persona"
	"sibyl/internal/text"
)

// checkTranscription says who writes down recordings, or what would. A server is looked for at its address; what it can do, only a recording tells.
func checkTranscription(ctx context.Context, a *app.App) finding {
	by, missing, err := a.Transcription()
	server := a.Config.Transcription.Server
	if err == nil && server != "" {
		err = answers(ctx, server)
	}
	switch {
	case err != nil:
		return finding{What: "transcription", Says: err.Error()}
	case missing != "":
		return finding{What: "transcription", Says: "not set up; recordings are kept until it is", Fix: "transcribes recordings: " + missing}
	}
	return finding{What: "transcription", OK: true, Says: by}
}

// answers says whether anything listens at an address.
func answers(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("transcription.server is not a valid address: %w", err)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return fmt.Errorf("transcription.server does not answer: %w", err)
	}
	return conn.Close()
}

// checkOracles says how many oracles there are, and which files can't be used as their author may think.
func checkOracles(ctx context.Context, a *app.App) finding {
	from := a.OraclesDir()
	list, err := a.Oracles().List(ctx)
	if err != nil {
		return finding{What: "oracles", Says: err.Error()}
	}
	says := text.Count(len(list.Oracles), "oracle")
	if from == "" {
		says += ", built in; set ORACLES_DIR to use a folder of your own"
	} else {
		says += " in " + from
	}
	warnings := oracleWarnings(list)
	if len(warnings) > 0 {
		says += "; " + strings.Join(warnings, "; ")
	}
	return finding{What: "oracles", OK: len(list.Oracles) > 0 && len(list.Skipped) == 0, Says: says}
}

// oracleWarnings are what their authors should know of the files of oracles, a line each.
func oracleWarnings(list persona.Listing) (all []string) {
	for _, p := range list.Oracles {
		for _, w := range p.Warnings {
			all = append(all, p.Name+": "+w)
		}
	}
	for _, one := range list.Skipped {
		all = append(all, one.File+" is left out: "+one.Reason)
	}
	return all
}

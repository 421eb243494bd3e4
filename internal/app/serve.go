package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/bt"
	"sibyl/internal/config"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/mcp"
	"sibyl/internal/oracle"
	"sibyl/internal/server"
	"sibyl/internal/server/node"
	"sibyl/internal/server/telemetry"
	"sibyl/internal/server/user"
	"sibyl/internal/service"
	"sibyl/internal/store"
	"sibyl/trees"
)

// mostBody has room for the longest question, whatever its characters become in JSON.
const mostBody = 1 << 20

// mostTexts has room for the pictures of a question as well, in base64.
const mostTexts = mostBody + oracle.MaxPictures*oracle.MaxPicture/3*4

// Serve serves HTTP and works as a node until ctx is done. It calls listening with the address. It returns ErrAgain if
// an operator wants changed settings in force.
func (a *App) Serve(ctx context.Context, build string, listening func(address string)) error {
	serving, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := a.serve(serving, build, listening, func() { stop(ErrAgain) })
	if err == nil && ctx.Err() == nil {
		err = context.Cause(serving)
	}
	return err
}

func (a *App) serve(ctx context.Context, build string, listening func(address string), again func()) error {
	cfg := a.Config.Server
	var answers *api.Server
	offered, err := a.MCP(ctx, build, mcp.Assistants{Folders: cfg.FoldersOf, Stays: true,
		Begin: func(ctx context.Context, owner journal.Owner, do func() error) error {
			return answers.Begin(ctx, owner, do)
		}})
	if err != nil {
		return err
	}
	tools := offered.HTTP()
	defer tools.Close()
	if err := a.shared.check(ctx, longPatience); err != nil && !errors.Is(err, session.ErrAway) { // that is in the log
		return err
	}
	if err := a.CheckWeb(); err != nil {
		a.log.Warn("no web page can be opened", "error", err.Error())
	}
	c := server.Config{Listen: cfg.Listen, Behind: len(cfg.Proxies) > 0, Loopback: cfg.Loopback(), Grace: cfg.Grace,
		Users: a.Users.Any, Engine: a.Engine,
		Log: a.log, Listening: listening,
		Ready: func(ctx context.Context) error {
			_, err := a.Database.Now(ctx)
			return err
		},
		Node: node.Config{Self: node.Node{Holder: a.Engine.Holder, Name: nodeName(cfg.Name), Build: build},
			Engine: a.Engine, Registry: a.Database,
			Clock: &a.Clock, Duties: a.duties(), Log: a.log},
	}
	c.NewHTTP = func(ready func(context.Context) error, leaving <-chan struct{}) (*http.Server, error) {
		answers, err = api.New(api.Config{Service: a.Service, Users: a.Users, Folders: cfg.FoldersOf, MCP: tools,
			Council: a.Council, Inquiry: a.Inquiry, Notes: &api.Notes{Writes: a.Writes, Undo: a.Undo,
				Written: a.Written}, Tasks: a.Tasks, Operation: a.operation(), Setup: a.newSetup(again), Sources: a.documentSource,
			Documents: a.Documents, Presets: a.presetsOfServer, Build: build, Origins: cfg.Hosts, Proxies: cfg.Proxies,
			Limits: api.Limits{
				Runs:     cfg.Limits.Runs,
				Requests: float64(cfg.Limits.Requests) / 60,
				Burst:    max(cfg.Limits.Requests/10, 1),
				Bytes:    cfg.Limits.Bytes,
				Body:     mostBody,
				Texts:    mostTexts,
			},
			Leaving: leaving, Lag: a.telemetry.Lag,
			Ready: ready, Metrics: a.telemetry.Handler(), Log: a.log, Now: a.Clock.Now})
		if err != nil {
			return nil, err
		}
		return api.HTTPServer(a.telemetry.HTTP(answers.Handler()), a.log), nil
	}
	pair, err := certificate(cfg)
	if err != nil {
		return err
	}
	if pair != nil {
		c.TLS = &tls.Config{Certificates: []tls.Certificate{*pair}, MinVersion: tls.VersionTLS12,
			NextProtos: []string{"h2", "http/1.1"}}
	}
	if db, is := a.Database.(*store.Server); is { // a COMMIT that waits for a standby keeps no process from ending
		defer context.AfterFunc(ctx, func() { time.AfterFunc(cfg.Grace, db.Hurry) })()
	}
	return server.Run(ctx, c)
}

// certificate reads the server's certificate; nil if it has none.
func certificate(cfg config.Server) (*tls.Certificate, error) {
	if cfg.TLSCert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("server.tls_cert %s and server.tls_key: %w", cfg.TLSCert, err)
	}
	return &pair, nil
}

// readyTime limits the wait for a server to accept requests.
const readyTime = 3 * time.Second

// Ready returns nil if the server of these settings, on this machine, accepts requests.
func Ready(ctx context.Context, cfg config.Server) error {
	pair, err := certificate(cfg)
	if err != nil {
		return err
	}
	var own *x509.Certificate
	if pair != nil {
		own = pair.Leaf
	}
	ctx, cut := context.WithTimeout(ctx, readyTime)
	defer cut()
	return server.Ready(ctx, cfg.Listen, own)
}

// openTelemetry sets the log and, if this process serves, opens metrics and traces.
func (a *App) openTelemetry() (err error) {
	opt := a.options
	a.log = opt.Log
	if opt.Serving == nil {
		return nil
	}
	t := a.Config.Telemetry
	a.log = telemetry.Logger(opt.Serving, t.LogLevel, a.secrets.bytes)
	a.telemetry, err = telemetry.New(telemetry.Config{Build: opt.Build, Instance: nodeName(a.Config.Server.Name),
		Endpoint: t.Endpoint, Header: t.Header(), PlainHTTP: a.Config.PlainHTTP, Ratio: t.TraceRatio,
		AcceptParent: t.Traceparent, Waiting: a.waitingRuns, Redact: a.secrets.bytes, Log: a.log})
	return err
}

// mostWaiting limits how many waiting runs are counted.
const mostWaiting = 1000

// waitingRuns counts the runs that wait for a process.
func (a *App) waitingRuns(ctx context.Context) (w telemetry.Waiting, err error) {
	now := a.Clock.Now()
	all, err := a.Store.Stranded(ctx, a.Engine.LeaseTimes(), mostWaiting)
	w.Runs = len(all)
	for _, r := range all {
		w.Oldest = max(w.Oldest, now.Sub(r.StartedAt))
	}
	return w, err
}

// prices returns those of the settings, or the public ones.
func (a *App) prices() *service.Prices {
	set := a.Config.Prices.OrPublic()
	return &service.Prices{Currency: set.Currency, Limit: set.Limit, Of: set.Cost}
}

// operation returns what operators of the server may see.
func (a *App) operation() *api.Operation {
	return &api.Operation{Nodes: func(ctx context.Context) ([]node.Node, time.Time, error) {
		now := a.Clock.Now()
		nodes, err := a.Database.Nodes(ctx, now)
		return nodes, now, err
	}, Trees: a.checkedTrees, Prompts: a.checkedPrompts}
}

// checkedTrees returns the trees now in force, each with its problems.
func (a *App) checkedTrees() ([]api.TreeInForce, error) {
	all, err := a.Trees.All()
	checked := make([]api.TreeInForce, 0, len(all))
	for _, t := range all {
		c := api.TreeInForce{Name: t.Name, Text: string(t.Text), BuiltIn: t.Embedded}
		if built, none := (trees.Set{}).Get(t.Name); none == nil && !t.Embedded {
			c.Replaces, c.Original = true, string(built.Text)
		}
		loaded, err := a.LoadTree(t)
		var wrong *bt.LoadError
		switch {
		case errors.As(err, &wrong):
			c.Found = wrong.Problems
		case err != nil:
			c.Found = []bt.Problem{{Message: "it is no tree of an assistant"}}
		default:
			c.Nodes, c.Picture, c.Found = loaded.Size(), loaded.Picture(), loaded.Warnings
		}
		c.Problems = len(c.Found)
		checked = append(checked, c)
	}
	return checked, err
}

// flushTime limits the time for sending the last traces.
const flushTime = 3 * time.Second

func (a *App) closeTelemetry() error {
	if a.telemetry == nil {
		return nil
	}
	ctx, cut := context.WithTimeout(context.Background(), flushTime)
	defer cut()
	return a.telemetry.Close(ctx)
}

// SignInAddress returns the address for a browser to use a one-time secret: by the first name of the settings, else at
// a live node, which here reports that only this machine may reach. "" if there is neither.
func (a *App) SignInAddress(ctx context.Context, once string) (address string, here bool, err error) {
	if origin := a.Config.Server.Origin(); origin != "" {
		return api.SignInAddress(origin, once), false, nil
	}
	live, err := a.liveNodes(ctx)
	if err != nil || len(live) == 0 {
		return "", false, err
	}
	return api.SignInAddress(live[0], once), true, nil
}

// OwnersAddress returns a one-time sign-in address for the owner of the command line's sessions: at the server that
// listens at an address, else at a live node on this machine; "" if there is none.
func (a *App) OwnersAddress(ctx context.Context, listening string) (string, error) {
	if listening == "" {
		live, err := a.liveNodes(ctx)
		if err != nil {
			return "", err
		}
		look, cut := context.WithTimeout(ctx, readyTime)
		defer cut()
		here := slices.IndexFunc(live, func(at string) bool {
			u, err := url.Parse(at)
			return err == nil && (config.Server{Listen: u.Host}).Loopback() && server.Ready(look, u.Host, nil) == nil
		})
		if here < 0 {
			return "", nil
		}
		listening = live[here]
	}
	_, secret, err := a.Users.Welcome(ctx, string(Owner), user.Operate)
	return api.SignInAddress(reachable(listening), secret), err
}

// liveNodes returns the addresses of the live nodes that accept requests.
func (a *App) liveNodes(ctx context.Context) (addresses []string, err error) {
	now := a.Clock.Now()
	nodes, err := a.Database.Nodes(ctx, now)
	for _, n := range nodes {
		if n.Lives(now) && !n.Draining {
			addresses = append(addresses, reachable(n.Address))
		}
	}
	return addresses, err
}

// reachable returns an address that reaches a server of this machine, even if it listens on all addresses.
func reachable(address string) string {
	for _, all := range []string{"://[::]:", "://0.0.0.0:"} {
		address = strings.Replace(address, all, "://127.0.0.1:", 1)
	}
	return address
}

func nodeName(set string) string {
	if host, err := os.Hostname(); set == "" && err == nil {
		return journal.Clean(host)
	}
	return set
}

// retireAtOnce limits how many sessions of an owner one round of retention removes.
const retireAtOnce = 200

// duties returns the periodic duties of nodes.
func (a *App) duties() []node.Duty {
	return []node.Duty{
		{Name: "retention", Every: time.Hour, Do: func(ctx context.Context) error {
			at, err := a.Settled()
			if err != nil || at.IsZero() {
				return err
			}
			users, err := a.Users.List(ctx)
			if err != nil {
				return err
			}
			owners := []journal.Owner{Owner}
			for _, u := range users {
				owners = append(owners, journal.Owner(u.Name))
			}
			for _, owner := range owners {
				if _, err := a.Service.Retire(ctx, owner, at, retireAtOnce); err != nil {
					return err
				}
			}
			return errors.Join(a.ExpireWrites(ctx, at), a.Users.Forget(ctx, at))
		}},
	}
}

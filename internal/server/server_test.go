package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/run"
	"sibyl/internal/server/node"
	"sibyl/internal/store/teststore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what is to happen soon.
const patience = 30 * time.Second

// serving is a server under test.
type serving struct {
	*testing.T
	registry teststore.Store
	address  string
	stop     func()
	ended    chan error
}

// config is that of a server on this machine, whose answers tell what ready says.
func config(t *testing.T, registry node.Registry) Config {
	t.Helper()
	engine := assert.Must(run.NewEngine(run.Config{Store: teststore.Empty(t), Build: "test", Holder: "h"}))(t)
	log := slog.New(slog.DiscardHandler)
	return Config{Listen: "127.0.0.1:0", Loopback: true, Grace: time.Second, Engine: engine, Log: log,
		Listening: func(string) {},
		Users:     func(context.Context) (bool, error) { return true, nil },
		Ready:     func(context.Context) error { return nil },
		Node: node.Config{Self: node.Node{Holder: "h", Name: "n"}, Engine: engine,
			Registry: registry, Clock: &node.Clock{}, Log: log},
		NewHTTP: func(ready func(context.Context) error, leaving <-chan struct{}) (*http.Server, error) {
			mux := http.NewServeMux()
			mux.HandleFunc("/ready", func(w http.ResponseWriter, r *http.Request) {
				if err := ready(r.Context()); err != nil {
					http.Error(w, err.Error(), http.StatusServiceUnavailable)
				}
			})
			mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) { // lasts until the server leaves
				_, _ = io.WriteString(w, "begun\n")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-leaving:
					_, _ = io.WriteString(w, "over\n")
				case <-r.Context().Done():
				}
			})
			return &http.Server{Handler: mux, ReadHeaderTimeout: patience}, nil
		}}
}

func serve(t *testing.T, change func(*Config)) *serving {
	t.Helper()
	s := &serving{T: t, registry: teststore.Empty(t), ended: make(chan error, 1)}
	c := config(t, s.registry)
	listening := make(chan string, 1)
	c.Listening = func(address string) { listening <- address }
	if change != nil {
		change(&c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.stop = cancel
	go func() { s.ended <- Run(ctx, c) }()
	select {
	case s.address = <-listening:
	case err := <-s.ended:
		t.Fatalf("it ended before it listened: %v", err)
	case <-time.After(patience):
		t.Fatal("it does not listen")
	}
	t.Cleanup(cancel)
	return s
}

// over waits until the server has ended.
func (s *serving) over() error {
	s.Helper()
	select {
	case err := <-s.ended:
		return err
	case <-time.After(patience):
		s.Fatal("it does not end")
		return nil
	}
}

func (s *serving) get(path string) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	s.Cleanup(cancel)
	req := assert.Must(http.NewRequestWithContext(ctx, http.MethodGet, s.address+path, http.NoBody))(s)
	return (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
}

func TestServerIsKnownWhileItServesAndForgottenWhenItHasStopped(t *testing.T) {
	s := serve(t, nil)
	nodes := func() []node.Node {
		all := assert.Must(s.registry.Nodes(t.Context(), time.Now()))(t)
		return all
	}
	for deadline := time.Now().Add(patience); len(nodes()) == 0; {
		assert.Require(t, !time.Now().After(deadline), "it is not known as a node")
	}
	n := nodes()[0]
	assert.That(t, n.Address == s.address && n.Name == "n", "it is known as %+v", n)
	s.stop()
	assert.Nil(t, s.over())
	all := nodes()
	assert.That(t, len(all) == 0, "still known are %v", all)
	_, err := net.Dial("tcp", strings.TrimPrefix(s.address, "http://"))
	assert.That(t, err != nil, "it still listens")
}

func TestServerThatStopsLetsWatchersSeeTheEndOfItsRuns(t *testing.T) {
	s := serve(t, nil)
	resp, err := s.get("/stream")
	assert.NoError(t, err)
	defer resp.Body.Close() //nolint:errcheck // read to its end
	s.stop()
	text, err := io.ReadAll(resp.Body)
	assert.That(t, err == nil && string(text) == "begun\nover\n", "a stream has %q, %v", text, err)
	assert.Nil(t, s.over())
}

func TestServerIsForgottenAlthoughAnAnswerTakesAllTheTimeThatItHas(t *testing.T) {
	t.Parallel()
	asked, over := make(chan struct{}), make(chan struct{})
	s := serve(t, func(c *Config) {
		c.NewHTTP = func(func(context.Context) error, <-chan struct{}) (*http.Server, error) {
			return &http.Server{ReadHeaderTimeout: patience,
				Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
					close(asked)
					<-over
				})}, nil
		}
	})
	go func() {
		if resp, err := s.get("/"); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-asked
	s.stop()
	assert.Nil(t, s.over())
	close(over)
	all, err := s.registry.Nodes(t.Context(), time.Now())
	assert.That(t, err == nil && len(all) == 0, "still known are %v, %v", all, err)
}

func TestServerThatCannotSayThatItLeavesHasStoppedAllTheSame(t *testing.T) {
	log := &strings.Builder{}
	s := serve(t, func(c *Config) {
		c.Node.Registry = deaf{teststore.Empty(t)}
		c.Log = slog.New(slog.NewTextHandler(log, nil))
	})
	s.stop()
	assert.Nil(t, s.over())
	assert.That(t, strings.Contains(log.String(), "this node stays in the list"), "the log is %q", log)
}

// deaf is a registry whose database is lost before a node leaves.
type deaf struct{ teststore.Store }

func (deaf) Leave(context.Context, string) error { return errUnreachable }

func TestServerIsNotReadyWithoutItsDatabase(t *testing.T) {
	gone := errors.New("the database is gone")
	s := serve(t, func(c *Config) { c.Ready = func(context.Context) error { return gone } })
	resp, err := s.get("/ready")
	assert.NoError(t, err)
	defer resp.Body.Close() //nolint:errcheck // of a test
	assert.That(t, resp.StatusCode == http.StatusServiceUnavailable, "it answers %s", resp.Status)
}

func TestServerListensBeyondItsMachineOnlyWithUsersAndEncryption(t *testing.T) {
	users := func(there bool, err error) func(context.Context) (bool, error) {
		return func(context.Context) (bool, error) { return there, err }
	}
	lost := errors.New("lost")
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"nobody who may sign in": {func(c *Config) { c.Users = users(false, nil) }, "sibyl user add"},
		"in the clear":           {func(*Config) {}, "tokens would be sent in the clear"},
		"users are not known":    {func(c *Config) { c.Users = users(false, lost) }, "lost"},
		"encrypted, but nobody": {func(c *Config) {
			c.TLS, c.Users = &tls.Config{MinVersion: tls.VersionTLS12}, users(false, nil)
		}, "sibyl user add"},
		"no such address": {func(c *Config) {
			c.Behind, c.Listen = true, "192.0.2.1:0"
		}, "choose another address with --listen"},
	} {
		t.Run(name, func(t *testing.T) {
			conf := config(t, teststore.Empty(t))
			conf.Listen, conf.Loopback = "0.0.0.0:0", false
			conf.Listening = func(address string) { t.Errorf("it listens at %s", address) }
			c.change(&conf)
			if err := Run(t.Context(), conf); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v; want one that says %q", err, c.says)
			}
		})
	}
}

func TestServerThatCannotBeKnownEnds(t *testing.T) {
	c := config(t, unreachable{teststore.Empty(t)})
	err := Run(t.Context(), c)
	assert.That(t, errors.Is(err, errUnreachable), "the error is %v", err)
}

var errUnreachable = errors.New("no database")

// unreachable is a registry whose database is not there.
type unreachable struct{ teststore.Store }

func (unreachable) Now(context.Context) (time.Time, error) { return time.Time{}, errUnreachable }

// Package server runs one server process: it listens, works as a node, and stops in order.
//
// Guarantees:
//   - It listens beyond this machine only if there are users, and if the traffic is encrypted: by it, or by a proxy
//     that the settings name.
//   - When ctx is done it accepts no more runs and reports that (/readyz, ErrDraining). Active runs may finish within
//     the grace, and watchers still receive their updates. Runs that are then still active are left to other nodes;
//     none is cancelled.
//   - When Run returns, this process no longer listens or drives runs, and has left the registry, unless the database
//     can't be reached.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"sibyl/internal/run"
	"sibyl/internal/server/node"
)

// Config describes a server.
type Config struct {
	Listen   string
	TLS      *tls.Config                             // nil: the server doesn't encrypt
	Behind   bool                                    // behind a named proxy that encrypts
	Loopback bool                                    // only this machine can reach Listen
	Grace    time.Duration                           // for active runs, when the server stops
	Users    func(ctx context.Context) (bool, error) // reports whether there are any
	Ready    func(ctx context.Context) error         // returns why the database can't be used; nil: it can
	Engine   *run.Engine
	Node     node.Config
	Log      *slog.Logger

	// NewHTTP makes the HTTP server. ready returns why it should get no requests, or nil; leaving is closed once this
	// process drives no more runs.
	NewHTTP func(ready func(context.Context) error, leaving <-chan struct{}) (*http.Server, error)
	// Listening is called once the server listens, with its address as a URL.
	Listening func(address string)
}

var errDraining = errors.New("this node is stopping")

// shutdownTime limits how long open requests may take once no runs are driven, and leaving the registry after that.
const shutdownTime = 5 * time.Second

// Run serves until ctx is done or the server or node fails, then stops in order. ctx being done is no error.
func Run(ctx context.Context, c Config) error {
	if err := c.checkExposure(ctx); err != nil {
		return err
	}
	var draining atomic.Bool
	leaving := make(chan struct{})
	s, err := c.NewHTTP(func(ctx context.Context) error {
		if draining.Load() {
			return errDraining
		}
		return c.Ready(ctx)
	}, leaving)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listening to %s: %w (choose another address with --listen)", c.Listen, err)
	}
	c.Node.Self.Address = "http://" + l.Addr().String()
	if c.TLS != nil {
		l = tls.NewListener(l, c.TLS)
		c.Node.Self.Address = "https://" + l.Addr().String()
	}
	working, stopWorking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWorking()
	worked := make(chan error, 1)
	go func() { worked <- node.Work(working, c.Node) }()
	defer c.Engine.Listen()()
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	c.Listening(c.Node.Self.Address)

	var failed error
	select {
	case <-ctx.Done():
	case failed = <-served:
		served <- http.ErrServerClosed
	case failed = <-worked:
		worked <- nil
	}
	c.Log.Info("stopping", "grace", c.Grace.String())
	draining.Store(true)
	stopWorking()
	grace, cut := context.WithTimeout(context.WithoutCancel(ctx), c.Grace)
	defer cut()
	c.Engine.Drain(grace) // before node.Work has ended, so that it resumes no more runs
	<-worked
	close(leaving)
	last, cutLast := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cutLast()
	if err := s.Shutdown(last); err != nil {
		_ = s.Close() // the time for open requests is over
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		failed = errors.Join(failed, err)
	}
	c.leaveRegistry(ctx)
	return failed
}

// leaveRegistry removes this node from the registry; a failure is only logged, since others soon see that it is gone.
func (c Config) leaveRegistry(ctx context.Context) {
	ctx, cut := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cut()
	if err := c.Node.Registry.Leave(ctx, c.Node.Self.Holder); err != nil {
		c.Log.Warn("this node stays in the list of nodes, as one that is gone", "err", err)
	}
}

// checkExposure returns an error if the server would listen beyond this machine without users or encryption.
func (c Config) checkExposure(ctx context.Context) error {
	if c.Loopback {
		return nil
	}
	any, err := c.Users(ctx)
	switch {
	case err != nil:
		return err
	case !any:
		return fmt.Errorf("%s can be reached from other machines, and there is no user who may sign in: add one with "+
			"‘sibyl user add NAME’, or listen to 127.0.0.1", c.Listen)
	case c.TLS == nil && !c.Behind:
		return fmt.Errorf("%s can be reached from other machines, and tokens would be sent in the clear: set "+
			"server.tls_cert and server.tls_key, "+
			"or name the proxy that encrypts in server.proxies, or listen to 127.0.0.1", c.Listen)
	}
	return nil
}

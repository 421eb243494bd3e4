// Package server is one process that serves: it listens, works as a node, and stops in order.
//
// Guarantees:
//   - It listens beyond this machine only where there are users, and where what is sent is encrypted: by it, or by a
//     proxy that is named.
//   - When ctx is done it takes no more runs and says so (/readyz, ErrDraining); runs that go on may finish within the
//     grace, and what they do is still told to those who watch. Then those that still go on are left open for other
//     nodes; none is cancelled.
//   - When Run returns, nothing of it listens or drives any more, nor is it known as a node, unless its database can't
//     be reached.
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

// Config is what a server is made of.
type Config struct {
	Listen   string
	TLS      *tls.Config // nil: none
	Behind   bool        // a proxy is named, which encrypts
	Loopback bool        // Listen is an address of this machine alone
	Grace    time.Duration
	Users    func(ctx context.Context) (bool, error) // says whether there are any
	Ready    func(ctx context.Context) error         // says why the database can't be used
	Engine   *run.Engine
	Node     node.Config
	Log      *slog.Logger

	// NewHTTP makes the HTTP server. ready says why it should get no requests; leaving is closed once no run is driven
	// any more.
	NewHTTP func(ready func(context.Context) error, leaving <-chan struct{}) (*http.Server, error)
	// Listening is told the address that is listened to, as a browser takes it.
	Listening func(address string)
}

var errDraining = errors.New("this node is stopping")

// shutdownTime bounds how long open requests may take once no run is driven any more.
const shutdownTime = 5 * time.Second

// Run serves until ctx is done.
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
	c.Engine.Drain(grace) // at once: a run that was about to be resumed is not
	<-worked
	close(leaving)
	last, cutLast := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cutLast()
	if err := s.Shutdown(last); err != nil {
		_ = s.Close() // who is still being answered has had its time
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		failed = errors.Join(failed, err)
	}
	c.leaveRegistry(ctx)
	return failed
}

// leaveRegistry removes this node from the registry. If that fails, others soon see that it is gone.
func (c Config) leaveRegistry(ctx context.Context) {
	ctx, cut := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cut()
	if err := c.Node.Registry.Leave(ctx, c.Node.Self.Holder); err != nil {
		c.Log.Warn("this node stays in the list of nodes, as one that is gone", "err", err)
	}
}

// checkExposure refuses to listen beyond this machine without users, or without encryption.
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

package roles_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// defaultLog collects the output of slog.Default() from now on until the end of the test.
func defaultLog(t *testing.T) *locked {
	t.Helper()
	var out locked
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &out
}

// says waits until the log has a text.
func (l *locked) says(t *testing.T, text string) {
	t.Helper()
	natstest.Eventually(t, "the log says: "+text, time.Minute, func() (bool, string) {
		return strings.Contains(l.String(), text), l.String()
	})
}

// unlogged makes a configuration log nothing of its own.
func unlogged(c *roles.Config) { c.Logger = nil }

// TestNoServerIsSaid: a process without Logger and Sinks logs within two seconds that no server
// answers, where, and what to do. It repeats that from time to time, and logs when a server is
// there.
func TestNoServerIsSaid(t *testing.T) {
	out := defaultLog(t)
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		link := s.Link()
		link.Cut()
		cfg := config(s, "a", link.Options()...)
		m, err := roles.New(cfg, w.role("r"))
		if err != nil {
			t.Fatal(err)
		}
		n := &node{Manager: m, t: t, link: link}
		n.run()
		const what = "no NATS server answers at "
		time.Sleep(2 * time.Second)
		for _, want := range []string{what + s.URL(), "start one there (nats-server -js)", "level=WARN"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("after two seconds it has not said %q:\n%s", want, out.String())
			}
		}
		time.Sleep(time.Minute)
		if n := strings.Count(out.String(), what); n < 4 || n > 7 {
			t.Errorf("said %d times within a minute:\n%s", n, out.String())
		}
		if strings.Contains(out.String(), "session opened") {
			t.Errorf("there was no session:\n%s", out.String())
		}
		link.Heal()
		receive(t, "it leads", w.began)
		out.says(t, "session opened")
		if text := out.String(); strings.Contains(text, "promoted") || strings.Contains(text, "DEBUG") {
			t.Errorf("more than warnings, and that they are over:\n%s", text)
		}

		link.Cut()
		receive(t, "its term ends", w.ended)
		time.Sleep(time.Minute)
		for _, want := range []string{"connection to NATS lost", "session lost"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("it has not said %q:\n%s", want, out.String())
			}
		}
		if strings.Contains(out.String(), "buffer") {
			t.Errorf("it speaks of its buffers:\n%s", out.String())
		}
	})
}

// TestWarningsBesideSinks: sinks of metrics or traces do not log, so warnings go to slog.Default()
// beside them. A sink that logs takes the place of that.
func TestWarningsBesideSinks(t *testing.T) {
	log := &locked{}
	for name, c := range map[string]struct {
		sink   event.Sink
		warned bool
	}{
		"metrics":   {event.SinkFunc(func(event.Event) {}), true},
		"a log":     {roles.SlogSink(slog.New(slog.NewTextHandler(log, nil))), false},
		"no log":    {roles.SlogSink(nil), false},
		"a zap log": {roles.LogSink(nil), false},
	} {
		t.Run(name, func(t *testing.T) {
			out := defaultLog(t)
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				returned := make(chan event.Event, 100)
				n := start(t, s, "a",
					one(roles.Role{Name: "r", Lead: func(context.Context, *election.Term) error { return nil }}),
					unlogged,
					func(cfg *roles.Config) {
						cfg.Sinks = []event.Sink{c.sink, event.SinkFunc(func(e event.Event) {
							if _, ok := e.(event.WorkReturned); ok {
								returned <- e
							}
						})}
					})
				receive(t, "the work returns", returned)
				if err := n.end(); err != nil {
					t.Error(err)
				}
			})
			if warned := strings.Contains(out.String(), "keep Lead running until ctx ends"); warned != c.warned {
				t.Errorf("warned by slog.Default(): %t, want %t:\n%s", warned, c.warned, out.String())
			}
		})
	}
	if !strings.Contains(log.String(), "keep Lead running until ctx ends") {
		t.Errorf("the log has no warning:\n%s", log.String())
	}
}

// TestMistakesAreSaid: a process without a configured log logs work that returns at once, a Lead
// under another role's name, and tasks that nobody hands out.
func TestMistakesAreSaid(t *testing.T) {
	out := defaultLog(t)
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		m, err := roles.New(config(s, "a", link.Options()...),
			roles.Role{Name: "brief", Lead: func(context.Context, *election.Term) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		a, err := assign.New(m.Session(), assign.Config{Namespace: "ns", Role: "files", StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Add(roles.Role{Name: "file", Lead: a.Lead}); err != nil {
			t.Fatal(err)
		}
		n := &node{Manager: m, t: t, link: link}
		n.run()
		out.says(t, "keep Lead running until ctx ends")
		out.says(t, `the term is of role \"file\", and Config.Role is \"files\"`)
		out.says(t, `no process takes part in role \"files\"`)
	})
}

// TestUnfitServersAreTold: if a server answers but is unfit, the log says why it is unfit, and not
// that no server answers.
func TestUnfitServersAreTold(t *testing.T) {
	for name, is := range map[string]struct {
		configure func(*server.Options)
		says      string
	}{
		"a password":   {func(o *server.Options) { o.Username, o.Password = "bob", "secret" }, "Authorization Violation"},
		"no JetStream": {func(o *server.Options) { o.JetStream = false }, "JetStream does not answer: enable it"},
	} {
		t.Run(name, func(t *testing.T) {
			out := defaultLog(t)
			s := natstest.Server(t, natstest.Listen, func(o *natsrun.Options) { o.Configure = is.configure })
			unserved(t, s.URL())
			out.says(t, is.says)
			if strings.Contains(out.String(), "no NATS server answers") {
				t.Errorf("a server does:\n%s", out.String())
			}
		})
	}
}

// TestOtherServersAreTold: the server at the address speaks another protocol.
func TestOtherServersAreTold(t *testing.T) {
	out := defaultLog(t)
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	t.Cleanup(func() {
		_ = web.Close()
		<-served
	})
	go func() {
		defer close(served)
		for {
			c, err := web.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_ = c.Close()
		}
	}()
	unserved(t, "nats://"+web.Addr().String())
	out.says(t, "cannot connect to nats://"+web.Addr().String()+": ")
}

// unserved runs a manager that is not expected to get anywhere, until the end of the test.
func unserved(t *testing.T, url string) {
	t.Helper()
	m, err := roles.New(roles.Config{URL: url, Bucket: "roles", BucketAutoCreate: true, InstanceID: "a", TTL: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, election.ErrConnClosed) &&
			!errors.Is(err, election.ErrJetStreamOff) {
			t.Error(err)
		}
	})
}

package roles_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// guarded runs a test with a server that knows one user; know replaces the password of that user.
func guarded(t *testing.T, run func(t *testing.T, s *natsrun.Server, know func(password string))) {
	t.Helper()
	var began *server.Options
	user := func(password string) []*server.User { return []*server.User{{Username: "app", Password: password}} }
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		run(t, s, func(password string) {
			options := began.Clone()
			options.Users, options.Port = user(password), server.RANDOM_PORT // which is what it was started with
			if err := s.Running().ReloadOptions(options); err != nil {
				t.Fatal(err)
			}
		})
	}, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) {
			so.Users = user("one")
			began = so
		}
	})
}

func as(password string) func(*roles.Config) {
	return func(c *roles.Config) {
		c.TTL = 10 * time.Second
		c.NATSOptions = append(c.NATSOptions, nats.UserInfo("app", password))
	}
}

// TestCredentialsRenewedLate: a user that the server does not know for a while is an outage. The
// term lives as long as the lease, and what is wrong is told.
func TestCredentialsRenewedLate(t *testing.T) {
	guarded(t, func(t *testing.T, s *natsrun.Server, know func(string)) {
		wa, wb := newWork(), newWork()
		a := start(t, s, "a", one(wa.role("r")), as("one"))
		term := receive(t, "a leads", wa.began)
		b := start(t, s, "b", one(wb.role("r")), as("one"))
		b.follows("r", "a")

		know("two")
		time.Sleep(3 * time.Second)
		const says, fix = "Authorization Violation", ": set credentials in Config.NATSOptions"
		if line := a.logged("cannot connect to"); !strings.Contains(line.Message, says+fix) || !term.Valid() ||
			!a.Status().Ready {
			t.Errorf("%q, valid %v, ready %v", line.Message, term.Valid(), a.Status().Ready)
		}
		know("one")
		time.Sleep(time.Minute)
		if !term.Valid() {
			t.Error("the term has ended")
		}

		know("two")
		time.Sleep(time.Minute)
		if term.Valid() {
			t.Error("the term outlives the lease")
		}
		answer := httptest.NewRecorder()
		a.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/readyz", nil))
		if got := answer.Body.String(); answer.Code != 503 ||
			!strings.Contains(got, "the credentials are refused: nats: "+says) {
			t.Errorf("/readyz: %d %s", answer.Code, got)
		}
		know("one")
		natstest.Eventually(t, "one of them leads again", time.Minute, func() (bool, string) {
			return a.status("r").IsLeader != b.status("r").IsLeader, ""
		})
		for _, n := range []*node{a, b} {
			if err := n.end(); err != nil {
				t.Errorf("Run returned %v", err)
			}
		}
	})
}

// TestWrongPasswordAfterAnOutage: the first server that answers refuses the credentials. Then Run
// ends, as if that server had answered at once.
func TestWrongPasswordAfterAnOutage(t *testing.T) {
	guarded(t, func(t *testing.T, s *natsrun.Server, know func(string)) {
		link := s.Link()
		link.Refuse(true)
		cfg := config(s, "a", link.Options()...)
		as("two")(&cfg)
		m, err := roles.New(cfg, newWork().role("r"))
		if err != nil {
			t.Fatal(err)
		}
		n := &node{Manager: m, t: t}
		n.run()
		time.Sleep(time.Minute)
		none(t, "Run has ended", n.ended)
		link.Heal()
		healed := time.Now()
		if err := n.result(); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("Run returned %v", err)
		}
		if took := time.Since(healed); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestWrongPasswordWithAnyReconnectWait: a refusal before the first connection ends Run, and one
// attempt counts once.
func TestWrongPasswordWithAnyReconnectWait(t *testing.T) {
	for _, wait := range []time.Duration{0, time.Second, 8 * time.Second} {
		guarded(t, func(t *testing.T, s *natsrun.Server, know func(string)) {
			cfg := config(s, "a", append(s.Link().Options(), nats.ReconnectWait(wait))...)
			as("two")(&cfg)
			m, err := roles.New(cfg, newWork().role("r"))
			if err != nil {
				t.Fatal(err)
			}
			n := &node{Manager: m, t: t}
			began := time.Now()
			n.run()
			if err := n.result(); !errors.Is(err, nats.ErrAuthorization) {
				t.Errorf("wait %v: Run returned %v", wait, err)
			}
			if took := time.Since(began); took < wait || took > wait+5*time.Second {
				t.Errorf("wait %v: it took %v", wait, took)
			}
		})
	}
}

// TestSharedConnectionIsRefused: a shared connection gives up at the second refusal. The error says
// which option would have kept it.
func TestSharedConnectionIsRefused(t *testing.T) {
	guarded(t, func(t *testing.T, s *natsrun.Server, know func(string)) {
		nc := natstest.Connect(t, s, append(s.Link().Options(), nats.UserInfo("app", "one"),
			nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))...)
		w := newWork()
		a := start(t, s, "a", one(w.role("r")), func(c *roles.Config) { c.URL, c.NATSOptions, c.Conn = "", nil, nc })
		receive(t, "a leads", w.began)
		know("two")
		err := a.result()
		if !errors.Is(err, election.ErrConnClosed) || !errors.Is(err, nats.ErrAuthorization) ||
			!strings.Contains(err.Error(), "nats.IgnoreAuthErrorAbort()") {
			t.Errorf("Run returned %v", err)
		}
	})
}

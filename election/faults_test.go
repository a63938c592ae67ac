package election_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// openError opens a session that must not open, and returns why.
func openError(t *testing.T, ctx context.Context, nc *nats.Conn, cfg election.SessionConfig, want error) error {
	t.Helper()
	session := unopened(t, cfg)
	e, err := session.Campaign(election.RoleConfig{Role: "scheduler", Lead: newPart().work})
	if !cfg.WorkerOnly {
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	err = session.Open(ctx, nc)
	if !errors.Is(err, want) {
		t.Fatalf("open: %v, want %v", err, want)
	}
	if line, _, _ := strings.Cut(err.Error(), "\n"); strings.Count(line, "election: ") != 1 {
		t.Errorf("the package's prefix does not stand once in %q", line)
	}
	receive(t, "the session's end", after(session.Done()))
	if !cfg.WorkerOnly {
		receive(t, "the election's end", after(e.Done()))
		if e.Err() == nil || session.Err() == nil {
			t.Errorf("the session's error is %v, the election's %v", session.Err(), e.Err())
		}
	}
	return err
}

func TestMissingBucketPrintsTheCommand(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("a")
		cfg.BucketAutoCreate = false
		err := openError(t, t.Context(), natstest.Connect(t, s), cfg, election.ErrBucketNotFound)
		const want = `bucket "roles" not found: make it with "rolectl bucket create roles`
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not contain %s", err, want)
		}
	})
}

func TestUnfitBucketListsAllFaults(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{
			Bucket: bucket, History: 5, TTL: time.Hour, Metadata: map[string]string{"rolemanager.format": "2"},
		}); err != nil {
			t.Fatal(err)
		}
		err = openError(t, t.Context(), nc, instance("a"), election.ErrBucketUnfit)
		t.Log(err)
		for _, fault := range []string{
			"MaxAge", "history", "FirstSeq", "AllowMsgTTL", "SubjectDeleteMarkerTTL",
			"AllowAtomicPublish", "metadata",
		} {
			if !strings.Contains(err.Error(), fault) {
				t.Errorf("it does not tell of %s", fault)
			}
		}
		if !strings.Contains(err.Error(), "rolectl bucket") {
			t.Error("it does not tell the fix")
		}
	})
}

// TestOrdinaryBucket: a program that names a bucket of somebody's data is told to create another
// one, and nothing that would harm the data, also if it may create buckets.
func TestOrdinaryBucket(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: bucket, History: 5}); err != nil {
			t.Fatal(err)
		}
		for _, may := range []bool{false, true} {
			cfg := instance("a")
			cfg.BucketAutoCreate = may
			err := openError(t, t.Context(), nc, cfg, election.ErrBucketUnfit)
			if says := err.Error(); !strings.Contains(says, "an ordinary KV bucket") ||
				!strings.Contains(says, `create another one with "rolectl bucket create NAME"`) ||
				strings.Contains(says, "--fix") || strings.Contains(says, "delete") {
				t.Errorf("may create %t: %v", may, err)
			}
		}
		_, err = election.Observe(t.Context(), nc, bucket)
		if !errors.Is(err, election.ErrBucketUnfit) || strings.Contains(err.Error(), "--fix") {
			t.Errorf("an observer: %v", err)
		}
	})
}

func TestJetStreamOff(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		openError(t, within(t, time.Minute), natstest.Connect(t, s), instance("a"), election.ErrJetStreamOff)
	}, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) { so.JetStream = false }
	})
}

func TestConnectionClosed(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		nc.Close()
		const fix = "the connection was closed: leave it open, and connect with nats.MaxReconnects(-1)"
		err := openError(t, within(t, time.Minute), nc, instance("a"), election.ErrConnClosed)
		if !strings.Contains(err.Error(), fix) {
			t.Errorf("opened over a closed one: %v", err)
		}

		nc = natstest.Connect(t, s)
		session := unopened(t, instance("a"))
		if err := session.Open(t.Context(), nc); err != nil {
			t.Fatal(err)
		}
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		nc.Close()
		receive(t, "the end", after(session.Done()))
		if !errors.Is(session.Err(), election.ErrConnClosed) || !errors.Is(p.Err(), election.ErrConnClosed) || term.Valid() ||
			!strings.Contains(session.Err().Error(), fix) {
			t.Errorf("ended with %v, %v; valid %v", session.Err(), p.Err(), term.Valid())
		}
	})
}

func TestWorkerOnlyCannotCampaign(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("w")
		cfg.WorkerOnly = true
		if _, err := open(t, s, cfg).Campaign(election.RoleConfig{Role: "scheduler"}); !errors.Is(err,
			election.ErrWorkerOnly) {
			t.Errorf("campaign: %v, want %v", err, election.ErrWorkerOnly)
		}
	})
}

func TestTTLAboveTheBucketsMaximum(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		open(t, s, instance("b")) // makes the bucket, with the default maximum
		cfg := instance("a")
		cfg.TTL = 3 * time.Minute
		session := unopened(t, cfg)
		err := session.Open(t.Context(), natstest.Connect(t, s))
		var fault *election.ConfigError
		if !errors.As(err, &fault) || fault.Field != "TTL" || !strings.Contains(fault.Fix, "2m0s") {
			t.Errorf("open: %v, want a *ConfigError of TTL that names the maximum", err)
		}
	})
}

func TestOpenGivesUpWithItsContext(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		nc := natstest.Connect(t, s, append(link.Options(), nats.MaxReconnects(-1))...)
		link.Cut()
		began := time.Now()
		err := openError(t, within(t, 20*time.Second), nc, instance("a"), context.DeadlineExceeded)
		if took := time.Since(began); took > 21*time.Second {
			t.Errorf("it took %v", took)
		}
		t.Log(err)
	})
}

// TestOpenOverALiveDuplicate: two processes with one instance id do not fight for it: the second is
// told.
func TestOpenOverALiveDuplicate(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		first := open(t, s, instance("a"))
		p, term := lead(t, first, election.RoleConfig{Role: "scheduler"})
		second := unopened(t, instance("a"))
		err := second.Open(t.Context(), natstest.Connect(t, s))
		var duplicate *election.DuplicateInstanceError
		if !errors.As(err, &duplicate) || duplicate.Instance != "a" || duplicate.Session != bridge.Number(first) {
			t.Errorf("open: %v, want *DuplicateInstanceError of session %d", err, bridge.Number(first))
		}
		if !term.Valid() {
			t.Error("the first one has lost its role")
		}
		none(t, "end of the term", p.ended)
	})
}

// TestOpenAfterACrash: the lease of a crashed predecessor with our id is waited for.
func TestOpenAfterACrash(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		first := open(t, s, instance("a"), link.Options()...)
		_, term := lead(t, first, election.RoleConfig{Role: "scheduler"})
		link.Cut()
		crashed := time.Now()
		p, next := lead(t, open(t, s, instance("a")), election.RoleConfig{Role: "scheduler"})
		if waited := time.Since(crashed); waited < 800*time.Millisecond || waited > 3*time.Second {
			t.Errorf("led %v after the crash, want about the TTL", waited)
		}
		if next.Epoch() <= term.Epoch() || term.Valid() || !p.IsLeader() {
			t.Errorf("epoch %d after %d, the first believes: %v", next.Epoch(), term.Epoch(), term.Valid())
		}
	})
}

// TestOpenWithoutServer: that no server answers is told with the URL and what to do, as an error
// that programs can tell apart.
func TestOpenWithoutServer(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		nc := natstest.Connect(t, s, append(link.Options(), nats.ReconnectBufSize(-1), nats.MaxReconnects(-1),
			nats.PingInterval(time.Second), nats.MaxPingsOutstanding(2))...)
		link.Cut()
		natstest.Eventually(t, "the connection is lost", time.Minute, func() (bool, string) {
			return nc.IsReconnecting(), nc.Status().String()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := openError(t, ctx, nc, instance("a"), context.DeadlineExceeded)
		var missing *election.NotConnectedError
		if !errors.As(err, &missing) || len(missing.Servers) != 1 || !errors.Is(err, nats.ErrDisconnected) {
			t.Errorf("%v: want a NotConnectedError of one server", err)
		}
		if !strings.Contains(err.Error(), "no NATS server answers at "+nc.Servers()[0]+": start one there") {
			t.Errorf("%q does not say where no server answers, and what to do", err)
		}
	})
}

// TestDeafConnectionIsRefused: on a connection with NoEcho a leader would never reach its own
// process.
func TestDeafConnectionIsRefused(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s, nats.NoEcho())
		_, standalone := election.New(nc, election.Config{
			SessionConfig: instance("a"), RoleConfig: election.RoleConfig{Role: "scheduler"},
		})
		for what, err := range map[string]error{
			"New": standalone, "Open": unopened(t, instance("b")).Open(t.Context(), nc),
			"Open nil": unopened(t, instance("c")).Open(t.Context(), nil),
		} {
			if fault := (*election.ConfigError)(nil); !errors.As(err, &fault) || fault.Field != "nc" {
				t.Errorf("%s: %v, want a *ConfigError of nc", what, err)
			}
		}
	})
}

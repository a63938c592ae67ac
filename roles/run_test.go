package roles_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

func TestSeveralRolesInOneProcess(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		a := start(t, s, "a", []roles.Role{w.role("one"), w.role("two"), w.role("three")})
		terms := []*election.Term{receive(t, "a term", w.began), receive(t, "a term", w.began), receive(t, "a term", w.began)}
		epochs := map[uint64]bool{}
		for _, term := range terms {
			if !term.Valid() || epochs[term.Epoch()] {
				t.Errorf("term of %s: valid %v, epoch %d", term.Role(), term.Valid(), term.Epoch())
			}
			epochs[term.Epoch()] = true
		}
		st := a.Status()
		slices.Sort(st.Leading)
		if got := fmt.Sprint(st.Leading); got != "[one three two]" || !st.Ready || st.Connection != "CONNECTED" ||
			st.Session == 0 {
			t.Errorf("status %+v", st)
		}
		if err := a.end(); err != nil {
			t.Error(err)
		}
		for range terms {
			if cause := receive(t, "the work's end", w.ended); !errors.Is(cause, election.ErrClosed) {
				t.Errorf("the work ended with cause %v", cause)
			}
		}
	})
}

func TestLeaderCrash(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		wa, wb := newWork(), newWork()
		a := start(t, s, "a", one(wa.role("scheduler")))
		first := receive(t, "a leads", wa.began)
		b := start(t, s, "b", one(wb.role("scheduler")))
		b.follows("scheduler", "a")

		a.link.Cut()
		cut := time.Now()
		second := receive(t, "b takes over", wb.began)
		took := time.Since(cut)
		if first.Valid() {
			t.Error("a still believes that it leads")
		}
		if second.Epoch() <= first.Epoch() {
			t.Errorf("epoch %d after %d", second.Epoch(), first.Epoch())
		}
		if cause := receive(t, "a's work ends", wa.ended); !errors.Is(cause, election.ErrSessionLost) &&
			!errors.Is(cause, election.ErrDisconnected) {
			t.Errorf("a's work ended with cause %v", cause)
		}
		t.Logf("taken over after %v at TTL 1s", took)

		a.link.Heal()
		a.follows("scheduler", "b")
		none(t, "a leads beside b", wa.began)
	})
}

// The successor begins only when the work of its predecessor has returned.
func TestGracefulShutdown(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		wa, wb := newWork(), newWork()
		wa.hold = make(chan struct{})
		a := start(t, s, "a", one(wa.role("scheduler")), func(c *roles.Config) { c.DrainTimeout = 30 * time.Second })
		receive(t, "a leads", wa.began)
		b := start(t, s, "b", one(wb.role("scheduler")))
		b.follows("scheduler", "a")

		a.stop()
		receive(t, "a's work is told to end", wa.ended)
		time.Sleep(10 * time.Second) // ten times the TTL
		none(t, "b leads while a's work runs", wb.began)
		if st := a.Status(); st.Ready || st.Reason != "shutting down" {
			t.Errorf("ready %v, %q", st.Ready, st.Reason)
		}
		close(wa.hold)
		began := time.Now()
		receive(t, "b leads", wb.began)
		if took := time.Since(began); took > time.Second/2 {
			t.Errorf("b began %v after a had drained: it has waited for a lease", took)
		}
		if err := a.result(); err != nil {
			t.Error(err)
		}
	})
}

func TestUndrainedAtTheEnd(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		wa, wb := newWork(), newWork()
		wa.hold = make(chan struct{})
		a := start(t, s, "a", []roles.Role{wa.role("stuck"), newWork().role("fine")})
		receive(t, "a leads", wa.began)
		b := start(t, s, "b", one(wb.role("stuck")))
		b.follows("stuck", "a")
		undrained := (*election.UndrainedError)(nil)
		if err := a.end(); !errors.As(err, &undrained) || fmt.Sprint(undrained.Roles) != "[stuck]" {
			t.Errorf("Run returned %v", err)
		}
		ended := time.Now()
		receive(t, "b leads when the lease has run out", wb.began)
		t.Logf("b leads %v after the end of a", time.Since(ended))
		close(wa.hold)
	})
}

func TestRunTwice(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		a := start(t, s, "a", one(w.role("r")))
		receive(t, "a leads", w.began)
		if err := a.Run(t.Context()); !errors.Is(err, roles.ErrAlreadyRun) {
			t.Errorf("second Run: %v", err)
		}
		if err := a.end(); err != nil {
			t.Error(err)
		}
		if err := a.Run(t.Context()); !errors.Is(err, roles.ErrAlreadyRun) {
			t.Errorf("Run after the end: %v", err)
		}
		if err := a.Add(w.role("more")); !errors.Is(err, roles.ErrEnded) {
			t.Errorf("Add after the end: %v", err)
		}
	})
}

func TestRunEndedBeforeItBegan(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		s.Stop()
		a := start(t, s, "a", one(w.role("r")))
		time.Sleep(10 * time.Second)
		if err := a.end(); err != nil {
			t.Errorf("Run without a server: %v", err)
		}
		none(t, "a leads", w.began)
	})
}

// The server starts after Run has waited for it for a while.
func TestServerComesLater(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		s.Stop()
		a := start(t, s, "a", one(w.role("r")))
		time.Sleep(time.Minute)
		if st := a.Status(); st.Ready || !strings.Contains(st.Reason, "no session") {
			t.Errorf("ready %v, %q", st.Ready, st.Reason)
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		receive(t, "a leads", w.began)
	})
}

func TestMissingBucket(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := start(t, s, "a", one(newWork().role("r")), func(c *roles.Config) { c.BucketAutoCreate = false })
		err := a.result()
		if !errors.Is(err, election.ErrBucketNotFound) || !strings.Contains(err.Error(), "rolectl bucket create roles") {
			t.Errorf("Run returned %v", err)
		}
		t.Log(err)
	})
}

// TestMissingBucketWithoutTheQuestion: a user that may not ask which JetStream domain answers gets
// the error about the bucket alone if the answer would only explain it. If it decides whether a
// bucket is created, Run names the subject.
func TestMissingBucketWithoutTheQuestion(t *testing.T) {
	const complaint = "NATS reported an error"
	for _, c := range []struct {
		denied string
		create bool
		want   error
		logged bool
	}{
		{"$JS.API.INFO", false, election.ErrBucketNotFound, false},
		{"$JS.API.INFO", true, election.ErrPermission, false},
		{"$JS.API.STREAM.INFO.KV_roles", false, election.ErrPermission, true},
	} {
		natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
			a := start(t, s, "a", one(newWork().role("r")), func(cfg *roles.Config) {
				cfg.NATSOptions = append(cfg.NATSOptions, nats.UserInfo("a", "x"))
				cfg.BucketAutoCreate = c.create
			})
			err := a.result()
			if !errors.Is(err, c.want) || c.want == election.ErrPermission && !strings.Contains(err.Error(), c.denied) {
				t.Errorf("%s, create %v: Run returned %v", c.denied, c.create, err)
			}
			synctest.Wait() // the handler of the connection runs apart
			if n := a.logs.FilterMessageSnippet(complaint).Len(); (n > 0) != c.logged {
				t.Errorf("%s, create %v: complaints %d: %v", c.denied, c.create, n, a.logs.All())
			}
		}, func(o *natsrun.Options) {
			o.Configure = func(so *server.Options) {
				so.Users = []*server.User{{Username: "a", Password: "x", Permissions: &server.Permissions{
					Publish: &server.SubjectPermission{Deny: []string{c.denied}},
				}}}
			}
		})
	}
}

func TestBucketDeletion(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		a := start(t, s, "a", one(w.role("r")))
		receive(t, "a leads", w.began)
		js, err := natstest.Connect(t, s).JetStream()
		if err != nil {
			t.Fatal(err)
		}
		if err := js.DeleteKeyValue("roles"); err != nil {
			t.Fatal(err)
		}
		if err := a.result(); !errors.Is(err, election.ErrBucketNotFound) {
			t.Errorf("Run returned %v", err)
		}
		receive(t, "the work has ended", w.ended)
	})
}

func TestDuplicateInstance(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		start(t, s, "a", one(w.role("r")))
		receive(t, "a leads", w.began)
		second := start(t, s, "a", one(w.role("r")))
		duplicate := (*election.DuplicateInstanceError)(nil)
		if err := second.result(); !errors.As(err, &duplicate) {
			t.Errorf("Run returned %v", err)
		}
	})
}

// Every permission that a candidate needs, taken away: Run names the subject within a second.
func TestPermissionDenied(t *testing.T) {
	for _, subject := range []string{
		"$JS.API.STREAM.INFO.KV_roles", "$KV.roles.c.lease.a", "$KV.roles.c.member.a", "$KV.roles.c.role.r",
		"$JS.API.CONSUMER.CREATE.KV_roles.>",
	} {
		t.Run(subject, func(t *testing.T) {
			user := func(o *natsrun.Options) {
				o.Configure = func(so *server.Options) {
					so.Users = []*server.User{
						{Username: "owner", Password: "x"},
						{
							Username: "a", Password: "x",
							Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{subject}}},
						},
					}
				}
			}
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				owner := start(t, s, "owner", nil, func(c *roles.Config) {
					c.NATSOptions = append(c.NATSOptions, nats.UserInfo("owner", "x"))
				})
				natstest.Eventually(t, "the bucket is there", time.Minute,
					func() (bool, string) { return owner.Status().Ready, owner.Status().Reason })
				if err := owner.end(); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				a := start(t, s, "a", one(newWork().role("r")), func(c *roles.Config) {
					c.NATSOptions = append(c.NATSOptions, nats.UserInfo("a", "x"))
					c.BucketAutoCreate = false
				})
				err := a.result()
				prefix := strings.TrimSuffix(subject, ">")
				if !errors.Is(err, election.ErrPermission) || !strings.Contains(err.Error(), prefix) {
					t.Errorf("Run returned %v", err)
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("it took %v", took)
				}
				t.Log(time.Since(began), err)
			}, user)
		})
	}
}

func TestWrongPassword(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := start(t, s, "a", one(newWork().role("r")),
			func(c *roles.Config) { c.NATSOptions = append(c.NATSOptions, nats.UserInfo("a", "wrong")) })
		if err := a.result(); !errors.Is(err, nats.ErrAuthorization) || !strings.Contains(err.Error(), "Config.NATSOptions") {
			t.Errorf("Run returned %v", err)
		}
	}, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) { so.Users = []*server.User{{Username: "a", Password: "right"}} }
	})
}

func TestSharedConnectionIsLeftAlone(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		heard := make(chan string, 64) // more than the test has changes
		nc := natstest.Connect(t, s, append(link.Options(), nats.ReconnectWait(50*time.Millisecond),
			nats.DisconnectErrHandler(func(*nats.Conn, error) { heard <- "disconnected" }),
			nats.ReconnectHandler(func(*nats.Conn) { heard <- "reconnected" }))...)
		before := nc.Opts
		w := newWork()
		a := start(t, s, "a", one(w.role("r")), func(c *roles.Config) { c.URL, c.NATSOptions, c.Conn = "", nil, nc })
		receive(t, "a leads", w.began)
		link.Reset()
		for _, want := range []string{"disconnected", "reconnected"} {
			if got := receive(t, "the user's handler is called", heard); got != want {
				t.Errorf("heard %s, want %s", got, want)
			}
		}
		if err := a.end(); err != nil {
			t.Error(err)
		}
		if !nc.IsConnected() {
			t.Error("the shared connection was closed")
		}
		if got := nc.NumSubscriptions(); got > 1 { // nats.go keeps one for its own requests
			t.Errorf("%d subscriptions are left", got)
		}
		after := nc.Opts
		if before.MaxReconnect != after.MaxReconnect || before.ReconnectBufSize != after.ReconnectBufSize ||
			before.PingInterval != after.PingInterval || before.InboxPrefix != after.InboxPrefix {
			t.Error("the shared connection was reconfigured")
		}
	})
}

// An outage that is shorter than the lease changes nothing, and the process stays ready.
func TestConnectionLoss(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		a := start(t, s, "a", one(w.role("r")), func(c *roles.Config) { c.TTL = 10 * time.Second })
		term := receive(t, "a leads", w.began)
		time.Sleep(time.Minute)
		a.link.Refuse(true)
		a.link.Reset()
		time.Sleep(2 * time.Second)
		if st := a.Status(); !st.Ready || st.Connection == "CONNECTED" {
			t.Errorf("during the outage: ready %v (%s), connection %s", st.Ready, st.Reason, st.Connection)
		}
		a.link.Heal()
		time.Sleep(time.Minute)
		if !term.Valid() {
			t.Errorf("the term has ended: %v", a.status("r"))
		}
		a.link.Cut()
		time.Sleep(11 * time.Second)
		if st := a.Status(); st.Ready {
			t.Error("still ready when the lease has run out")
		} else {
			t.Log(st.Reason)
		}
		a.link.Heal()
		receive(t, "a leads again", w.began)
	})
}

// Nobody can be told, and nothing can be given away: Run ends all the same, and so do the terms.
func TestShutdownDuringAnOutage(t *testing.T) {
	for name, fail := range map[string]func(*natsrun.Link){
		"cut":     (*natsrun.Link).Cut,
		"frozen":  func(l *natsrun.Link) { l.Hold(natsrun.Both) },
		"refused": func(l *natsrun.Link) { l.Refuse(true); l.Reset() },
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				a, _, wa, wb := pair(t, s)
				fail(a.link)
				stopped := time.Now()
				if err := a.end(); err != nil {
					t.Errorf("Run returned %v", err)
				}
				cfg := a.Session().Config()
				if took := time.Since(stopped); took > cfg.DrainTimeout+8*cfg.OpTimeout {
					t.Errorf("it took %v", took)
				}
				t.Log(time.Since(stopped))
				receive(t, "a's work ends", wa.ended)
				receive(t, "b leads", wb.began)
				a.link.Heal()
			})
		})
	}
}

// TestWaitForTheOldLeaseIsTold: a process that starts again under its name says in its log and in
// /readyz what it waits for.
func TestWaitForTheOldLeaseIsTold(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		slow := func(c *roles.Config) { c.TTL = 20 * time.Second }
		first := start(t, s, "a", one(newWork().role("r")), slow)
		first.follows("r", "a")
		first.link.Cut()
		next := start(t, s, "a", one(newWork().role("r")), slow)
		next.logged("waits for the last session of a to run out")
		if st := next.Status(); st.Ready || !strings.Contains(st.Reason, "waits for the last session of a to run out") ||
			!strings.Contains(st.Roles[0].Reason, "waits for the last session of a") {
			t.Errorf("ready %v: %s; the role: %s", st.Ready, st.Reason, st.Roles[0].Reason)
		}
		next.follows("r", "a")
	})
}

package assign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	taskrecord "github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// denying lets the nodes of a test, who have no name, do all but some things; "root" may do
// everything.
func denying(publish, subscribe []string) func(*natsrun.Options) {
	return func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) {
			so.Users = []*server.User{
				{Username: "root", Password: "p"},
				{Username: "u", Password: "p", Permissions: &server.Permissions{
					Publish: &server.SubjectPermission{Deny: publish}, Subscribe: &server.SubjectPermission{Deny: subscribe},
				}},
			}
			so.NoAuthUser = "u"
		}
	}
}

// rootClient submits whatever the nodes may do.
func rootClient(t *testing.T, s *natsrun.Server) *assign.Client {
	t.Helper()
	nc := natstest.Connect(t, s, nats.UserInfo("root", "p"))
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// ended waits until a term of a node has ended with an error.
func ended(t *testing.T, n *node, what string) error {
	t.Helper()
	var err error
	natstest.Eventually(t, what, time.Minute, func() (bool, string) {
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, e := range n.events {
			if d, ok := e.(event.WorkReturned); ok && d.Err != nil {
				err = d.Err
				return true, ""
			}
		}
		return false, "no term has ended"
	})
	return err
}

// TestASchedulerThatIsDenied says which subject: for what it writes, what it reads, and what it
// listens to. Its term ends, so that another candidate gets its chance.
func TestASchedulerThatIsDenied(t *testing.T) {
	const get, consume = "$JS.API.STREAM.MSG.GET.TASKS_" + testNS, "$JS.API.CONSUMER.CREATE.TASKS_" + testNS
	for name, x := range map[string]struct{ publish, subscribe []string }{
		stored + "seal":    {publish: []string{stored + "seal"}},
		stored + "t.":      {publish: []string{stored + "t.>"}},
		stored + "q.":      {publish: []string{stored + "q.>"}},
		said + ".report.>": {subscribe: []string{said + ".report.>"}},
		said + ".ctl":      {subscribe: []string{said + ".ctl"}},
		get:                {publish: []string{get}},
		consume:            {publish: []string{consume + ".>"}},
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				settled(t)
				k := assign.NewKind[[]byte, []byte]("echo", assign.Backoff(time.Second, time.Second))
				c := rootClient(t, s)
				if _, err := assign.Submit(t.Context(), c, k, []byte("fail")); err != nil {
					t.Fatal(err)
				}
				a := newNode(t, s, "a", failsOnce(t, k))
				err := ended(t, a, "the term ends")
				if !errors.Is(err, election.ErrPermission) || !strings.Contains(err.Error(), strings.TrimPrefix(name, said)) {
					t.Errorf("%v: want election.ErrPermission and %s", err, name)
				}
			}, denying(x.publish, x.subscribe))
		})
	}
}

// TestASchedulerThatMayNotEndMembers of bundles: its term ends as for a task that stands alone,
// whichever of the records it is that go together in one batch.
func TestASchedulerThatMayNotEndMembers(t *testing.T) {
	for _, family := range []string{taskrecord.QueueKey, taskrecord.EndedKey, taskrecord.BundleKey} {
		t.Run(family, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				settled(t)
				a := newNode(t, s, "a", func(a *assign.Assigner) { saying(t, a, nil) }, slots(1)) // members end one by one
				leader(t, a)
				storeBundle(t, natstest.Connect(t, s, nats.UserInfo("root", "p")), "client.z", 3, 0)
				err := ended(t, a, "the term ends")
				if !errors.Is(err, election.ErrPermission) || !strings.Contains(err.Error(), stored+family) {
					t.Errorf("%v: want election.ErrPermission and %s", err, stored+family)
				}
			}, denying([]string{stored + family + ">"}, nil))
		})
	}
}

// TestADeniedWriteInABatch: on replicas it takes others with it, and is found.
func TestADeniedWriteInABatch(t *testing.T) {
	thorough.Only(t, "it has three servers of its own")
	t.Parallel() // it waits for servers most of the time
	s := natstest.Cluster(t, func(o *natsrun.ClusterOptions) {
		o.Configure = func(_ int, so *server.Options) {
			so.Users = []*server.User{{Username: "u", Password: "p", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Deny: []string{stored + "t.>"}},
			}}}
			so.NoAuthUser = "u"
		}
	})
	k := assign.NewKind[[]byte, []byte]("echo")
	// nobody settles what is left
	impatient := func(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.DrainTimeout = 500 * time.Millisecond }
	a := newNode(t, s, "a", failsOnce(t, k), replicated, impatient)
	leader(t, a)
	c := New(t, s)
	inputs := make([][]byte, 30)
	for i := range inputs {
		inputs[i] = []byte("fine")
		if i%10 == 5 {
			inputs[i] = []byte("fail")
		}
	}
	if _, err := assign.SubmitBatch(t.Context(), c, k, inputs); err != nil {
		t.Fatal(err)
	}
	if err := ended(t, a, "the term ends"); !errors.Is(err, election.ErrPermission) ||
		!strings.Contains(err.Error(), stored+"t.") {
		t.Error(err)
	}
}

// TestAWorkerThatIsDenied is told of, whatever it is that it may not do.
func TestAWorkerThatIsDenied(t *testing.T) {
	for name, x := range map[string]struct{ publish, subscribe []string }{
		said + ".work.assign.w": {subscribe: []string{said + ".work.assign.w"}},
		said + ".work.sync.w":   {subscribe: []string{said + ".work.sync.>"}},
		said + ".work.cancel.w": {subscribe: []string{said + ".work.cancel.>"}},
		said + ".report.w":      {publish: []string{said + ".report.>"}},
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				settled(t)
				k := assign.NewKind[[]byte, []byte]("echo")
				a := newNode(t, rooted{s}, "a", nil)
				leader(t, a)
				w := newNode(t, s, "w", failsOnce(t, k), workerOnly)
				c := rootClient(t, s)
				if _, err := assign.Submit(t.Context(), c, k, []byte("x")); err != nil {
					t.Fatal(err)
				}
				natstest.Eventually(t, "a fault that names the subject", time.Minute, func() (bool, string) {
					all := faultsOf(w, election.ErrPermission)
					for _, f := range all {
						if strings.Contains(f.Err.Error(), strings.TrimPrefix(name, said)) {
							return true, ""
						}
					}
					return false, fmt.Sprint(all)
				})
			}, denying(x.publish, x.subscribe))
		})
	}
}

// TestAWorkerThatMayNotListenAnyMore holds nobody up: its session ends, with it what it runs, and
// it offers nothing before it may listen again.
func TestAWorkerThatMayNotListenAnyMore(t *testing.T) {
	forbidden(t, func(t *testing.T, s *natsrun.Server, allow func(deny ...string), subject string) {
		b := newBench()
		a := newNode(t, rooted{s}, "a", b.register(t, "a"), slots(1))
		leader(t, a)
		w := newNode(t, s, "w", b.register(t, "w"), workerOnly, slots(1))
		submitSlow(t, rootClient(t, s), 2)
		b.allStarted(t, 2)
		allow(subject)
		lost(t, w)
		a.close(t)
		n := newNode(t, rooted{s}, "n", b.register(t, "n"))
		b.allStarted(t, 4)
		allow()
		n.close(t)
		leader(t, newNode(t, rooted{s}, "m", nil))
		b.allStarted(t, 5)
		close(b.gate)
	})
}

// TestTasksOfAWorkerThatMayNotListenAnyMore go to others, under the scheduler that has handed them
// out, and so does what comes while it may not listen: its next session offers nothing.
func TestTasksOfAWorkerThatMayNotListenAnyMore(t *testing.T) {
	forbidden(t, func(t *testing.T, s *natsrun.Server, allow func(deny ...string), subject string) {
		b := newBench()
		leader(t, newNode(t, rooted{s}, "a", nil))
		w := newNode(t, s, "w", b.register(t, "w"), workerOnly, slots(4))
		v := newNode(t, rooted{s}, "v", b.register(t, "v"), workerOnly, slots(4))
		c := rootClient(t, s)
		first := submitSlow(t, c, 6)
		b.allStarted(t, 6)
		had := b.by("w")
		allow(subject)
		lost(t, w)
		close(b.gate)
		waitAll(t, first, w)
		time.Sleep(testTTL) // virtual: were its next session to offer anything, it would have said so
		for range 20 {
			if p, err := assign.Submit(t.Context(), c, slow, "later"); err != nil {
				t.Fatal(err)
			} else {
				waitAll(t, []*assign.Pending[string]{p}, w)
			}
		}
		if n := b.by("w"); n != had {
			t.Errorf("w has begun %d tasks that it could not hear of", n-had)
		}
		allow()
		v.close(t)
		p, err := assign.Submit(t.Context(), c, slow, "x")
		if err != nil {
			t.Fatal(err)
		}
		waitAll(t, []*assign.Pending[string]{p}, w)
	})
}

// forbidden plays once for each subject that a worker has to listen to: w is the one that may not,
// as long as allow says so.
func forbidden(t *testing.T, play func(t *testing.T, s *natsrun.Server, allow func(deny ...string), subject string)) {
	for name, subject := range map[string]string{"asked": "sync", "assigned": "assign", "told to stop": "cancel"} {
		t.Run(name, func(t *testing.T) {
			var options *server.Options
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				settled(t)
				play(t, s, func(deny ...string) {
					changed := options.Clone()
					changed.Port = server.RANDOM_PORT // as it was when the server was started
					changed.Users[1].Permissions.Subscribe = &server.SubjectPermission{Deny: deny}
					if err := s.Running().ReloadOptions(changed); err != nil {
						t.Fatal(err)
					}
				}, said+".work."+subject+".>")
			}, denying(nil, []string{testNS + ".nothing"}), func(o *natsrun.Options) {
				configure := o.Configure
				o.Configure = func(so *server.Options) { configure(so); options = so }
			})
		})
	}
}

// lost waits until a node's session has ended.
func lost(t *testing.T, n *node) {
	t.Helper()
	natstest.Eventually(t, n.name+"'s session ends", time.Minute, func() (bool, string) {
		return n.count(func(e event.Event) bool { _, ok := e.(event.SessionLost); return ok }) > 0, n.dump()
	})
}

// faultSaid counts the faults of a node that say what it was doing and of whom.
func faultSaid(n *node, doing, of string) int {
	return n.count(func(e event.Event) bool {
		f, ok := e.(event.Fault)
		return ok && f.Doing == doing && strings.Contains(f.Err.Error(), of)
	})
}

// TestAWorkerThatMayNotAnswer keeps the task that it runs, also under the next scheduler, to which
// it says that by its member record. It holds up no other task, and is named until it goes.
func TestAWorkerThatMayNotAnswer(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		b := newBench()
		a := newNode(t, rooted{s}, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", b.register(t, "w"), workerOnly)
		c := rootClient(t, s)
		p, err := assign.Submit(t.Context(), c, slow, "x")
		if err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "it runs, though it may not say so", time.Minute, func() (bool, string) {
			return b.startedTotal() == 1, w.dump()
		})
		a.close(t)
		n := newNode(t, rooted{s}, "n", b.register(t, "n"))
		leader(t, n)
		natstest.Eventually(t, "it is named again and again", time.Minute, func() (bool, string) {
			return faultSaid(n, "reach worker w", "work") > 1, n.dump()
		})
		if _, err := assign.Submit(t.Context(), c, slow, "y"); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "another task runs", time.Minute, func() (bool, string) {
			return b.by("n") == 1, n.dump()
		})
		if b.by("w") != 1 {
			t.Errorf("%d were handed to it", b.by("w"))
		}
		close(b.gate)
		w.close(t)
		if out, err := p.Wait(t.Context()); err != nil || out != "x by w" {
			t.Error(out, err)
		}
		told := faultSaid(n, "reach worker w", "work")
		time.Sleep(time.Minute) // virtual
		if now := faultSaid(n, "reach worker w", "work"); now != told {
			t.Errorf("it is said %d times afterwards", now-told)
		}
	}, denying([]string{"_INBOX.>"}, nil))
}

// TestAnIdleWorkerThatMayNotAnswer holds up nobody: it has begun nothing, and its session is ended.
func TestAnIdleWorkerThatMayNotAnswer(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		b := newBench()
		close(b.gate)
		a := newNode(t, rooted{s}, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", b.register(t, "w"), workerOnly)
		a.close(t)
		n := newNode(t, rooted{s}, "n", b.register(t, "n"))
		leader(t, n)
		p, err := assign.Submit(t.Context(), rootClient(t, s), slow, "x")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := p.Wait(t.Context()); err != nil || !strings.HasPrefix(out, "x by ") {
			t.Error(out, err)
		}
		lost(t, w)
		if n := faultSaid(n, "begin to hand out tasks", "w"); n > 0 {
			t.Errorf("it is said %d times that all waits", n)
		}
	}, denying([]string{"_INBOX.>"}, nil))
}

// TestASchedulerWithoutAConsumer says why it reads nothing, and begins when it may have one.
func TestASchedulerWithoutAConsumer(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		b := newBench()
		close(b.gate)
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, slow, "x")
		if err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(natstest.Connect(t, s))
		if err != nil {
			t.Fatal(err)
		}
		stream, err := js.Stream(t.Context(), "TASKS_"+testNS)
		if err != nil {
			t.Fatal(err)
		}
		allow := func(consumers int) {
			cfg := stream.CachedInfo().Config
			cfg.MaxConsumers = consumers
			if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
		}
		allow(1)
		if _, err := stream.CreateConsumer(t.Context(), jetstream.ConsumerConfig{}); err != nil {
			t.Fatal(err)
		}
		n := newNode(t, s, "n", b.register(t, "n"))
		natstest.Eventually(t, "it is said what keeps it", time.Minute, func() (bool, string) {
			return faultSaid(n, "read the tasks", "consumer") > 1, n.dump()
		})
		allow(-1)
		if out, err := p.Wait(t.Context()); err != nil || out != "x by n" {
			t.Error(out, err)
		}
	})
}

// rooted dials as the user who may do everything.
type rooted struct{ *natsrun.Server }

func (r rooted) Connect(opts ...nats.Option) (*nats.Conn, error) {
	return r.Server.Connect(append(opts, nats.UserInfo("root", "p"))...)
}

// TestASchedulerThatCannotReachAWorker hands tasks to the others, and says so.
func TestASchedulerThatCannotReachAWorker(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		k := assign.NewKind[[]byte, []byte]("echo")
		a := newNode(t, s, "a", nil, slots(1))
		leader(t, a)
		newNode(t, rooted{s}, "b", failsOnce(t, k), workerOnly, slots(1))
		newNode(t, rooted{s}, "c", failsOnce(t, k), workerOnly, slots(1))
		c := rootClient(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		for range 20 {
			if _, err := assign.Submit(ctx, c, k, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		natstest.Eventually(t, "a fault that names the subject, and tasks that end", time.Minute, func() (bool, string) {
			all := faultsOf(a, election.ErrPermission)
			done := a.count(func(e event.Event) bool { _, ok := e.(event.TaskCompleted); return ok })
			return len(all) > 0 && strings.Contains(all[0].Err.Error(), ".work.assign.b") && done >= 19,
				fmt.Sprint(done, all)
		})
	}, denying([]string{said + ".work.assign.b"}, nil))
}

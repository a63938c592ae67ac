package election_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// user is an account user with exactly these permissions, and an inbox prefix of its own.
func user(name string, publish []string, subscribe ...string) *server.User {
	return &server.User{Username: name, Password: "x", Permissions: &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: slices.Concat(subscribe, []string{"_INBOX_" + name + ".>"})},
		Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute},
	}}
}

// The sets per class, for bucket "roles".
var (
	observing = []string{
		"$JS.API.STREAM.INFO.KV_roles", "$JS.API.CONSUMER.CREATE.KV_roles.*.$KV.roles.>",
		"$JS.API.CONSUMER.DELETE.KV_roles.*", "$JS.FC.KV_roles.>",
	}
	listening = []string{"$ROLES.roles.*.ctl.a", "$ROLES.roles.*.ready.a"}
	working   = slices.Concat(observing, []string{"$KV.roles.w.lease.w", "$KV.roles.w.member.w", "$KV.roles.i.w.w"})
)

func leading(id string, roles ...string) []string {
	set := slices.Concat(observing, []string{
		"$KV.roles.c.lease.>", "$KV.roles.c.member.>", "$KV.roles.i.c." + id, "$KV.roles.probe." + id,
		"$ROLES.roles.*.ready.>",
	})
	for _, role := range roles {
		set = append(set, "$KV.roles.c.role."+role)
	}
	return set
}

// with starts the server with users; the owner may do everything.
func with(users ...*server.User) func(*natsrun.Options) {
	return func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) {
			so.Users = append([]*server.User{{Username: "owner", Password: "x"}}, users...)
		}
	}
}

// as is the options of a user's connection; complaints are kept.
func as(name string, complaints *journal) []nats.Option {
	return []nats.Option{
		nats.UserInfo(name, "x"), nats.CustomInboxPrefix("_INBOX_" + name),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { complaints.add("%s: %v", name, err) }),
	}
}

// TestPermissionsSuffice: every class does its part with the permissions of its class, and the
// server has nothing to complain about.
func TestPermissionsSuffice(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var complaints journal
		owner := open(t, s, instance("owner"), as("owner", &complaints)...)
		a, term := lead(t, open(t, s, instance("a"), as("a", &complaints)...), election.RoleConfig{Role: "scheduler"})
		b := campaign(t, open(t, s, instance("b"), as("b", &complaints)...), election.RoleConfig{Role: "scheduler"})
		worker := instance("w")
		worker.WorkerOnly = true
		w := attach(t, open(t, s, worker, as("w", &complaints)...))
		h := receive(t, "run", w.hosts)
		if err := h.Describe(within(t, time.Minute), "jobs", &election.Workplace{Slots: 1}); err != nil {
			t.Error(err)
		}
		for name, opts := range map[string][]election.ObserveOption{"o": nil, "o2": {election.WithWorkers()}} {
			o, err := election.Observe(t.Context(), natstest.Connect(t, s, as("o", &complaints)...), bucket, opts...)
			if err != nil {
				t.Fatalf("observer %s: %v", name, err)
			}
			defer o.Close()
			sees(t, o, "scheduler", "led by a", ledBy("a"))
		}
		if ok, err := a.ValidateToken(t.Context()); !ok || err != nil {
			t.Errorf("validate: %v, %v", ok, err)
		}

		operator, err := election.Observe(t.Context(), natstest.Connect(t, s, as("op", &complaints)...), bucket)
		if err != nil {
			t.Fatal(err)
		}
		defer operator.Close()
		sees(t, operator, "scheduler", "led by a", ledBy("a"))
		natstest.Eventually(t, "b waits in line", time.Minute, func() (bool, string) {
			return a.Status().Successor == "b", sprint(a.Status())
		})
		if successor, err := operator.StepDown(within(t, time.Minute), "scheduler", term.Epoch()); err != nil ||
			successor != "b" {
			t.Errorf("step-down by the operator: %q, %v", successor, err)
		}
		receive(t, "b's promotion", b.began)
		time.Sleep(2 * time.Second)
		if err := b.Transfer(within(t, time.Minute), "a"); err != nil { // b asks a whether it is ready
			t.Errorf("transfer by the leader: %v", err)
		}
		receive(t, "a's second promotion", a.began)
		if complaints.String() != "" {
			t.Errorf("the server complains: %s", &complaints)
		}
		_ = owner
	}, with(
		user("a", leading("a", "scheduler"), "$ROLES.roles.*.ctl.a", "$ROLES.roles.*.ready.a", "$ROLES.roles.keeper"),
		user("b", leading("b", "scheduler"), "$ROLES.roles.*.ctl.b", "$ROLES.roles.*.ready.b", "$ROLES.roles.keeper"),
		user("w", working), user("o", observing), user("op", append(slices.Clone(observing), "$ROLES.roles.*.ctl.>")),
	))
}

// TestSteeringNeedsPermission: NATS decides which clients may steer; an observer without the
// permission is told so.
func TestSteeringNeedsPermission(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var complaints journal
		_, term := lead(t, open(t, s, instance("a"), as("owner", &complaints)...), election.RoleConfig{Role: "scheduler"})
		o, err := election.Observe(t.Context(), natstest.Connect(t, s, as("o", &complaints)...), bucket)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		_, err = o.StepDown(within(t, time.Minute), "scheduler", 0)
		if !errors.Is(err, election.ErrPermission) || !strings.Contains(err.Error(), ".ctl.a") {
			t.Errorf("step-down: %v, want %v naming the subject", err, election.ErrPermission)
		}
		err = o.Evict(within(t, time.Minute), "scheduler", term.Epoch())
		if !errors.Is(err, election.ErrPermission) || !strings.Contains(err.Error(), "$KV.roles.c.role.scheduler") {
			t.Errorf("evict: %v, want %v naming the subject", err, election.ErrPermission)
		}
		if !term.Valid() {
			t.Error("the role was taken all the same")
		}
	}, with(user("o", observing)))
}

// TestDeniedPermissionIsNamed: each permission that a candidate lacks is found within a second and
// named, before it leads or when it first needs it.
func TestDeniedPermissionIsNamed(t *testing.T) {
	lacking := func(subject string) []string {
		all := leading("a", "scheduler")
		return slices.DeleteFunc(all, func(s string) bool { return strings.HasPrefix(s, subject) })
	}
	narrow := append(lacking("$JS.API.CONSUMER.CREATE"), "$JS.API.CONSUMER.CREATE.KV_roles.*.$KV.roles.c.>")
	tests := map[string]struct {
		publish   []string
		subscribe []string
		names     string
	}{
		"wide":     {narrow, listening, ".$KV.roles.>"}, // of those who lead
		"info":     {lacking("$JS.API.STREAM.INFO"), listening, "$JS.API.STREAM.INFO.KV_roles"},
		"consumer": {lacking("$JS.API.CONSUMER.CREATE"), listening, "$JS.API.CONSUMER.CREATE.KV_roles"},
		"lease":    {lacking("$KV.roles.c.lease"), listening, "$KV.roles.c.lease.a"},
		"member":   {lacking("$KV.roles.c.member"), listening, "$KV.roles.c.member.a"},
		"role":     {lacking("$KV.roles.c.role"), listening, "$KV.roles.c.role.scheduler"},
		"control":  {leading("a", "scheduler"), listening[1:], ".ctl.a"},
		"ready":    {leading("a", "scheduler"), listening[:1], ".ready.a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				var complaints journal
				open(t, s, instance("owner"), as("owner", &complaints)...)
				session := unopened(t, instance("a"))
				p := campaign(t, session, election.RoleConfig{Role: "scheduler"})
				began := time.Now()
				err := session.Open(within(t, time.Minute), natstest.Connect(t, s, as("a", &complaints)...))
				if err == nil && name == "wide" {
					t.Error("a session opens that cannot watch as a leader does")
				}
				if err == nil {
					receive(t, "the session's end", after(session.Done()))
					err = session.Err()
				}
				took := time.Since(began)
				if !errors.Is(err, election.ErrPermission) || !strings.Contains(err.Error(), test.names) {
					t.Errorf("got %v, want %v naming %s", err, election.ErrPermission, test.names)
				}
				if strings.Count(err.Error(), "election: ") != 1 {
					t.Errorf("the package's prefix does not stand once in %q", err)
				}
				if took > time.Second { // virtual: not how fast this machine is, but how long we wait
					t.Errorf("noticed after %v, want a second at most", took)
				}
				receive(t, "the election's end", after(p.Done()))
				t.Logf("after %v: %v", took, err)
			}, with(user("a", test.publish, test.subscribe...)))
		})
	}
}

// TestDeniedRoleOfTheDead: a process whose user may not write the role of one that has crashed
// leaves that to others, after it was told so once, and leads its own.
func TestDeniedRoleOfTheDead(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var complaints journal
		nc := natstest.Connect(t, s, as("owner", &complaints)...)
		crashes := unopened(t, instance("b"))
		if err := crashes.Open(t.Context(), nc); err != nil {
			t.Fatal(err)
		}
		lead(t, crashes, election.RoleConfig{Role: "theirs"})
		session := open(t, s, instance("a"), as("a", &complaints)...)
		_, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		nc.Close()
		time.Sleep(4 * natskv.DefaultMaxTTL)
		if !term.Valid() || session.Err() != nil {
			t.Errorf("its term is valid: %t; its session: %v", term.Valid(), session.Err())
		}
		o, err := election.Observe(t.Context(), natstest.Connect(t, s, as("owner", &complaints)...), bucket)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		if info, ok := o.Role("theirs"); !ok || info.Vacant {
			t.Errorf("the role of the dead process: %t, %+v", ok, info)
		}
		if said := complaints.String(); strings.Count(said, "$KV.roles.c.role.theirs") != 1 {
			t.Errorf("not denied once: %s", said)
		}
	}, with(user("a", leading("a", "scheduler"), listening...)))
}

// TestDeniedPermissionInRealTime: the same on a real clock.
func TestDeniedPermissionInRealTime(t *testing.T) {
	s := natstest.Server(t, with(user("a", observing, listening...)))
	var complaints journal
	open(t, s, instance("owner"), as("owner", &complaints)...)
	session := unopened(t, instance("a"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	began := time.Now()
	err := session.Open(ctx, natstest.Connect(t, s, as("a", &complaints)...))
	t.Logf("after %v: %v", time.Since(began), err)
	if !errors.Is(err, election.ErrPermission) || !strings.Contains(err.Error(), `"$KV.roles.c.lease.a"`) {
		t.Errorf("got %v, want %v naming the lease", err, election.ErrPermission)
	}
}

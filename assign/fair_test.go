package assign_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// mail is an input of a tenant.
type mail struct{ Tenant, To string }

// TestTenantsTakeTurns: one has a hundred tasks waiting, and a few others come after it. Each of
// them goes in turn.
func TestTenantsTakeTurns(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		k := assign.NewKind[mail, string]("mail", assign.Concurrency(1),
			assign.FairBy(func(m mail) string { return m.Tenant }))
		c := New(t, s)
		var inputs []mail
		for i := range 100 {
			inputs = append(inputs, mail{"big", fmt.Sprint(i)})
		}
		if _, err := assign.SubmitBatch(t.Context(), c, k, inputs); err != nil {
			t.Fatal(err)
		}
		var small []*assign.Pending[string]
		for i := range 6 {
			p, err := assign.Submit(t.Context(), c, k, mail{fmt.Sprint("small", i%3), fmt.Sprint(i)})
			if err != nil {
				t.Fatal(err)
			}
			small = append(small, p)
		}
		st, err := assign.Get(t.Context(), c, small[0].ID())
		if err != nil || st.Keys == nil || st.Keys.Fair != "small0" {
			t.Errorf("%+v, %v", st.Keys, err)
		}
		var mu sync.Mutex
		var row []string
		a := newNode(t, s, "a", func(a *assign.Assigner) {
			if err := assign.Handle(a, k, func(_ context.Context, task *assign.Task[mail]) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				row = append(row, task.Input.Tenant)
				return "", nil
			}); err != nil {
				t.Error(err)
			}
		})
		leader(t, a)
		for _, p := range small {
			if _, err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for i, tenant := range row {
			if i >= 8 && tenant != "big" {
				t.Errorf("%s goes as the %d. of %v", tenant, i, row)
			}
		}
	})
}

// TestSharesOfTenants: what a program declares counts, and what an operator says in its place, also
// under the next leader, until it is restored. The shares are those that are read back.
func TestSharesOfTenants(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		k := assign.NewKind[mail, string]("mail", assign.Concurrency(1),
			assign.FairBy(func(m mail) string { return m.Tenant }),
			assign.FairShares(map[string]int{"a": 3, "": 2}))
		c := New(t, s)
		if err := assign.PauseKind(t.Context(), c, "mail", "until all have come"); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		row := ""
		handles := func(a *assign.Assigner) {
			if err := assign.Handle(a, k, func(_ context.Context, task *assign.Task[mail]) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				row += (task.Input.Tenant + "-")[:1]
				return "", nil
			}); err != nil {
				t.Error(err)
			}
		}
		nodes := []*node{newNode(t, s, "a", handles), newNode(t, s, "b", handles)}
		first := leader(t, nodes...)
		served := func(want string) {
			t.Helper()
			mu.Lock()
			row = ""
			mu.Unlock()
			var all []*assign.Pending[string]
			for _, tenant := range []string{"a", "b", ""} {
				for range 3 {
					p, err := assign.Submit(t.Context(), c, k, mail{Tenant: tenant})
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, p)
				}
			}
			if err := assign.ResumeKind(t.Context(), c, "mail"); err != nil {
				t.Fatal(err)
			}
			for _, p := range all {
				if _, err := p.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			mu.Lock()
			got := row
			mu.Unlock()
			if got != want {
				t.Errorf("%s, and not %s", got, want)
			}
			if err := assign.PauseKind(t.Context(), c, "mail", "until all have come"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // virtual: the scheduler has read it
		}
		limits := func(counts, declared, override map[string]int) {
			t.Helper()
			l, err := assign.GetLimits(t.Context(), c, "mail")
			if err != nil || l.Declared == nil || !maps.Equal(l.Declared.Shares, declared) || !maps.Equal(l.Shares, counts) ||
				(l.Override != nil) != (override != nil) || override != nil && !maps.Equal(l.Override.Shares, override) {
				t.Errorf("%+v %+v %+v, %v", l, l.Declared, l.Override, err)
			}
		}
		natstest.Eventually(t, "a declaration", time.Minute, func() (bool, string) {
			l, err := assign.GetLimits(t.Context(), c, "mail")
			return err == nil && l.Declared != nil, fmt.Sprint(l, err)
		})
		declared := map[string]int{"a": 3, "": 2}
		limits(declared, declared, nil)
		served("aaab--b-b")
		instead := map[string]int{"b": 2}
		if err := assign.OverrideLimits(t.Context(), c, "mail", assign.LimitsOverride{Shares: instead}); err != nil {
			t.Fatal(err)
		}
		limits(instead, declared, instead)
		served("abb-ab-a-")
		first.link.Cut()
		for _, n := range nodes {
			if n != first {
				leader(t, n)
			}
		}
		served("abb-ab-a-")
		first.link.Heal()
		none := map[string]int{}
		if err := assign.OverrideLimits(t.Context(), c, "mail", assign.LimitsOverride{Shares: none}); err != nil {
			t.Fatal(err)
		}
		limits(none, declared, none)
		served("ab-ab-ab-")
		if err := assign.RestoreLimits(t.Context(), c, "mail"); err != nil {
			t.Fatal(err)
		}
		limits(declared, declared, nil)
		served("aaab--b-b")
	})
}

// TestSharesThatCannotBe: of keys that cannot be, too small or large, too many, or of a kind whose
// keys take no turns. A kind as it is declared needs no FairBy.
func TestSharesThatCannotBe(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		fair := assign.FairBy(func(m mail) string { return m.Tenant })
		many := map[string]int{}
		for i := range 800 {
			many[fmt.Sprint("tenant-", i)] = 2
		}
		for says, shares := range map[string]map[string]int{
			"use at most 200": {strings.Repeat("x", 201): 1}, "UTF-8": {"\xff": 1}, `0 for the key "a"`: {"a": 0},
			"use 1 to 1000": {"a": 1001}, "8192": many,
		} {
			_, err := assign.MakeKind[mail, string]("mail", fair, assign.FairShares(shares))
			if !errors.Is(err, assign.ErrInvalidKind) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", says, err)
			}
			err = assign.OverrideLimits(t.Context(), c, "mail", assign.LimitsOverride{Shares: shares})
			if !errors.Is(err, assign.ErrInvalidOption) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", says, err)
			}
		}
		size := func() int { text, _ := json.Marshal(many); return len(text) }
		for i := 0; size() > 8<<10; i++ {
			delete(many, fmt.Sprint("tenant-", i))
		}
		full := assign.NewKind[mail, string]("full", fair, assign.FairShares(many),
			assign.Labels(map[string]string{"zone": "a"}))
		if err := assign.Declare(t.Context(), c, full); err != nil {
			t.Errorf("the most that there may be: %v", err)
		}
		_, err := assign.MakeKind[mail, string]("mail", assign.FairShares(map[string]int{"a": 2}))
		says(t, err, assign.ErrInvalidKind, "FairBy")
		k := assign.NewKind[mail, string]("mail", fair, assign.FairShares(map[string]int{"a": 2}))
		if err := assign.Declare(t.Context(), c, k); err != nil {
			t.Fatal(err)
		}
		again, err := assign.DeclaredKind[mail, string](t.Context(), c, "mail")
		if err != nil {
			t.Fatal(err)
		}
		if err := assign.Declare(t.Context(), c, again); err != nil {
			t.Errorf("the same again: %v", err)
		}
	})
}

func TestFairKeysThatCannotBe(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		_, err := assign.MakeKind[mail, string]("mail", assign.FairBy(func(n int) string { return "" }))
		says(t, err, assign.ErrInvalidKind, "func(assign_test.mail) string")
		_, err = assign.MakeKind[mail, string]("mail", assign.FairBy[mail](nil))
		says(t, err, assign.ErrInvalidKind, "leave it out")
		var bad string
		k := assign.NewKind[mail, string]("mail", assign.FairBy(func(mail) string { return bad }))
		for _, key := range []string{strings.Repeat("x", 201), "\xff"} {
			bad = key
			_, err := assign.Submit(t.Context(), c, k, mail{})
			says(t, err, assign.ErrInvalidOption, "FairBy")
			_, err = assign.Submit(t.Context(), c, k, mail{}, assign.WithFairKey(key))
			says(t, err, assign.ErrInvalidOption, "WithFairKey")
			says(t, assign.Recur(t.Context(), c, k, "x", "@hourly", mail{}), assign.ErrInvalidOption, "FairBy")
		}
		_, err = assign.Submit(t.Context(), c, k, mail{}, assign.With(assign.FairBy(func(n int) string { return "" })))
		if !errors.Is(err, assign.ErrInvalidOption) {
			t.Error(err)
		}
	})
}

// TestARecurrenceOfATenant: its ticks, and a run by hand, have the key of its input.
func TestARecurrenceOfATenant(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		k := assign.NewKind[mail, string]("mail", assign.FairBy(func(m mail) string { return m.Tenant }))
		if err := assign.Recur(t.Context(), c, k, "x", "@hourly", mail{Tenant: "one"}); err != nil {
			t.Fatal(err)
		}
		id, err := assign.RunRecurrence(t.Context(), c, "x")
		if err != nil {
			t.Fatal(err)
		}
		st, err := assign.Get(t.Context(), c, id)
		if err != nil || st.Keys == nil || st.Keys.Fair != "one" {
			t.Errorf("%+v, %v", st, err)
		}
	})
}

// TestOverviewSaysWhichTenantsWait: how many there are, and the five of which the most tasks wait;
// which task is the oldest and why; and later how long the tasks have waited and run.
func TestOverviewSaysWhichTenantsWait(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		k := assign.NewKind[mail, string]("mail", assign.FairBy(func(m mail) string { return m.Tenant }))
		c := New(t, s)
		if err := assign.PauseKind(t.Context(), c, "mail", "look"); err != nil {
			t.Fatal(err)
		}
		a := newNode(t, s, "a", func(a *assign.Assigner) {
			if err := assign.Handle(a, k, func(context.Context, *assign.Task[mail]) (string, error) {
				time.Sleep(3 * time.Second)
				return "", nil
			}); err != nil {
				t.Error(err)
			}
		})
		leader(t, a)
		var all []*assign.Pending[string]
		for tenant := range 7 {
			for i := range tenant + 1 {
				p, err := assign.Submit(t.Context(), c, k, mail{fmt.Sprintf("<b>%d", tenant), fmt.Sprint(i)})
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, p)
			}
			time.Sleep(time.Second)
		}
		see := func() assign.KindOverview {
			t.Helper()
			o, err := assign.GetOverview(t.Context(), c)
			if err != nil || len(o.Kinds) != 1 {
				t.Fatalf("%+v, %v", o, err)
			}
			return o.Kinds[0]
		}
		got := see()
		if fmt.Sprint(got.Tenants) != "[{<b>6 7} {<b>5 6} {<b>4 5} {<b>3 4} {<b>2 3}]" || got.TenantCount != 7 {
			t.Errorf("%d tenants: %v", got.TenantCount, got.Tenants)
		}
		if o := got.Oldest; o == nil || o.ID != all[0].ID() || o.Reason != assign.ReasonPaused ||
			o.Waiting.Round(time.Second) != 7*time.Second || got.Waited != nil || got.Ran != nil {
			t.Errorf("%+v, %+v", o, got)
		}
		if err := assign.ResumeKind(t.Context(), c, "mail"); err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if _, err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		idle, err := assign.GetOverview(t.Context(), c)
		if err != nil || len(idle.Kinds) != 0 || len(idle.IdleKinds) != 1 || idle.IdleKinds[0].Ran.Count != len(all) {
			t.Errorf("with no open task: %+v, %v", idle, err)
		}
		if err := assign.PauseKind(t.Context(), c, "mail", "look again"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // virtual: the scheduler has read it
		got = see()
		near := func(d, want time.Duration) bool { return (d - want).Abs() < want/5 }
		if got.Ran == nil || got.Ran.Count != len(all) || !near(got.Ran.P50, 3*time.Second) ||
			!near(got.Ran.P99, 3*time.Second) || got.Waited == nil || got.Waited.Count != len(all) ||
			got.Waited.P99 < got.Waited.P50 || got.Oldest != nil || got.TenantCount != 0 {
			t.Errorf("%+v %+v %+v", got, got.Ran, got.Waited)
		}
	})
}

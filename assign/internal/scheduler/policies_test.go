package scheduler

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
)

// TestPoliciesAreShared: the state holds one policy for all tasks that differ in their times alone.
func TestPoliciesAreShared(t *testing.T) {
	c := newPolicies()
	of := func(change func(*record.Policy)) treatment {
		t.Helper()
		p := record.Policy{
			Version: 1, Kind: "k", Attempts: 5, Backoff: 1, MaxBack: 1, Retention: 3600,
			Labels: map[string]string{"zone": "north"},
		}
		change(&p)
		header, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		how, err := c.of(string(header))
		if err != nil {
			t.Fatal(err)
		}
		return how
	}
	same := func(*record.Policy) {}
	plain := of(same)
	for i := range 3 * maxPolicies / 2 {
		delay, deadline := time.Duration(i)*time.Millisecond, time.Duration(i)*time.Hour/1000+time.Hour
		how := of(func(p *record.Policy) {
			p.Delay, p.Deadline = delay.Milliseconds(), (deadline + time.Millisecond - 1).Milliseconds()
		})
		if how.policy != plain.policy || how.times.Delay != delay || how.times.Deadline < deadline ||
			how.times.Deadline > deadline+time.Millisecond {
			t.Fatalf("after %v and within %v: %+v, the others have %p", delay, deadline, how, plain.policy)
		}
	}
	for i := range 3 * maxPolicies / 2 {
		if how := of(func(p *record.Policy) {
			p.Attempts, p.Labels = i%record.MaxAttempts+1, map[string]string{"n": fmt.Sprint(i)}
		}); how.policy == plain.policy || how.policy.MaxAttempts != i%record.MaxAttempts+1 {
			t.Fatalf("%d attempts: %+v", i, how.policy)
		}
		if len(c.read) > maxPolicies || len(c.shared) > maxPolicies {
			t.Fatalf("%d and %d are kept", len(c.read), len(c.shared))
		}
	}
	if how := of(same); how.policy.Labels["zone"] != "north" || how.times != plain.times {
		t.Errorf("read again: %+v", how)
	}
	if len(c.read) < 2 || len(c.shared) < 2 {
		t.Error("nothing is kept")
	}
}

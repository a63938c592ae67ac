package assign

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// TestPoliciesAreShared: the books hold one policy for all tasks that differ in their times alone.
func TestPoliciesAreShared(t *testing.T) {
	c := newPolicies()
	of := func(opts ...SubmitOption) treatment {
		t.Helper()
		s := submission{policy: NewKind[int, int]("k", Labels(map[string]string{"zone": "north"})).policy}
		s.apply(opts)
		header, err := json.Marshal(s.policy)
		if err != nil {
			t.Fatal(err)
		}
		how, err := c.of(string(header))
		if err != nil {
			t.Fatal(err)
		}
		return how
	}
	plain := of()
	for i := range 3 * maxPolicies / 2 {
		delay, deadline := time.Duration(i)*time.Millisecond, time.Duration(i)*time.Hour/1000+time.Hour
		how := of(WithDelay(delay), WithDeadline(deadline))
		if how.policy != plain.policy || how.times.Delay != delay || how.times.Deadline < deadline || how.times.Deadline > deadline+time.Millisecond {
			t.Fatalf("after %v and within %v: %+v, the others have %p", delay, deadline, how, plain.policy)
		}
	}
	for i := range 3 * maxPolicies / 2 {
		if how := of(With(MaxAttempts(i%maxAttempts+1), Labels(map[string]string{"n": fmt.Sprint(i)}))); how.policy == plain.policy || how.policy.MaxAttempts != i%maxAttempts+1 {
			t.Fatalf("%d attempts: %+v", i, how.policy)
		}
		if len(c.read) > maxPolicies || len(c.shared) > maxPolicies {
			t.Fatalf("%d and %d are kept", len(c.read), len(c.shared))
		}
	}
	if how := of(); how.policy.Labels["zone"] != "north" || how.times != plain.times {
		t.Errorf("read anew: %+v", how)
	}
	if len(c.read) < 2 || len(c.shared) < 2 {
		t.Error("nothing is kept")
	}
}

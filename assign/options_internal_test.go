package assign

import (
	"maps"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
)

func TestOptionsLeaveTheKindAlone(t *testing.T) {
	given := map[string]string{"disk": "ssd"}
	k := NewKind[int, int]("k", Labels(given), Priority(3), KeyLimit(2))
	given["disk"] = "none"
	kept := func(opts ...SubmitOption) (record.Policy, map[string]string) {
		t.Helper()
		s := k.submission()
		s.apply(opts)
		if s.Fault != nil {
			t.Fatal(s.Fault)
		}
		return s.Policy, s.Meta
	}
	zone, header := WithLabels(map[string]string{"zone": "a"}), WithHeader("a", "1")
	p, meta := kept(zone, WithPriority(-5), WithDelay(time.Second), header, WithHeader("b", "2"))
	if !maps.Equal(p.Labels, map[string]string{"disk": "ssd", "zone": "a"}) || p.Priority != -5 || p.Delay != 1000 ||
		p.KeyLimit != 2 {
		t.Errorf("%+v", p)
	}
	if !maps.Equal(meta, map[string]string{"a": "1", "b": "2"}) {
		t.Errorf("%v", meta)
	}
	// The same options again, for another task, and none: as if there had been no other.
	if p, meta = kept(header); !maps.Equal(meta, map[string]string{"a": "1"}) || p.Priority != 3 || len(p.Labels) != 1 {
		t.Errorf("%+v, %v", p, meta)
	}
	if p, _ = kept(); p.Priority != 3 || p.Delay != 0 || !maps.Equal(p.Labels, map[string]string{"disk": "ssd"}) {
		t.Errorf("%+v", p)
	}
}

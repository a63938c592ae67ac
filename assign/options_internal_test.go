package assign

import (
	"encoding/json"
	"maps"
	"testing"
	"time"
)

func TestOptionsLeaveTheKindAlone(t *testing.T) {
	given := map[string]string{"disk": "ssd"}
	k := NewKind[int, int]("k", Labels(given), Priority(3), KeyLimit(2))
	given["disk"] = "none"
	record := func(opts ...SubmitOption) (policy, map[string]string) {
		t.Helper()
		s := submission{id: "x", kind: k.name, policy: k.policy, header: k.header}
		for _, o := range opts {
			o(&s)
		}
		op, err := s.write(nil)
		if err != nil {
			t.Fatal(err)
		}
		h := stored(op.Header)
		var p policy
		if err := json.Unmarshal([]byte(first(h[headerTask])), &p); err != nil {
			t.Fatal(err)
		}
		meta := map[string]string{}
		if text := first(h[headerMeta]); text != "" {
			if err := json.Unmarshal([]byte(text), &meta); err != nil {
				t.Fatal(err)
			}
		}
		return p, meta
	}
	zone, header := WithLabels(map[string]string{"zone": "a"}), WithHeader("a", "1")
	p, meta := record(zone, WithPriority(-5), WithDelay(time.Second), header, WithHeader("b", "2"))
	if !maps.Equal(p.Labels, map[string]string{"disk": "ssd", "zone": "a"}) || p.Priority != -5 || p.Delay != 1000 || p.KeyLimit != 2 {
		t.Errorf("%+v", p)
	}
	if !maps.Equal(meta, map[string]string{"a": "1", "b": "2"}) {
		t.Errorf("%v", meta)
	}
	// The same options again, for another task, and none: as if there had been no other.
	if p, meta = record(header); !maps.Equal(meta, map[string]string{"a": "1"}) || p.Priority != 3 || len(p.Labels) != 1 {
		t.Errorf("%+v, %v", p, meta)
	}
	if p, _ = record(); p.Priority != 3 || p.Delay != 0 || !maps.Equal(p.Labels, map[string]string{"disk": "ssd"}) {
		t.Errorf("%+v", p)
	}
}

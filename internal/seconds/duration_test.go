package seconds_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/seconds"
)

// TestDuration: a duration is read as it was written.
func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", time.Nanosecond: "0.000000001", 1500 * time.Millisecond: "1.5", -time.Minute: "-60",
		24*24*time.Hour + 1: "2073600.000000001",
	} {
		text, err := json.Marshal(seconds.Duration(d))
		if err != nil || string(text) != want {
			t.Errorf("%v: %s, %v; want %s", d, text, err, want)
		}
		back := seconds.Duration(time.Hour)
		if err := json.Unmarshal(text, &back); err != nil || time.Duration(back) != d {
			t.Errorf("%s: %v, %v; want %v", text, time.Duration(back), err, d)
		}
	}
	if _, err := json.Marshal(seconds.Duration(math.MaxInt64)); err != nil {
		t.Error(err)
	}
}

func TestDurationRefuses(t *testing.T) {
	for _, text := range []string{`"1s"`, `1e300`, `9223372037`, `-1e11`, `[]`} {
		d := seconds.Duration(time.Hour)
		if err := json.Unmarshal([]byte(text), &d); err == nil || time.Duration(d) != time.Hour {
			t.Errorf("%s: %v, %v", text, time.Duration(d), err)
		}
	}
	d := seconds.Duration(time.Hour)
	if err := json.Unmarshal([]byte("null"), &d); err != nil || time.Duration(d) != time.Hour {
		t.Errorf("null: %v, %v", time.Duration(d), err)
	}
}

// TestPointer: a field may be a pointer to a duration that another value holds. A duration of zero
// is left out.
func TestPointer(t *testing.T) {
	type shape struct {
		D *seconds.Duration `json:"d_seconds,omitzero"`
	}
	var d time.Duration
	in := shape{(*seconds.Duration)(&d)}
	for set, want := range map[time.Duration]string{0: "{}", time.Second: `{"d_seconds":1}`} {
		d = set
		if text, err := json.Marshal(in); err != nil || string(text) != want {
			t.Errorf("%v: %s, %v", set, text, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"d_seconds":0.25}`), &in); err != nil || d != 250*time.Millisecond {
		t.Errorf("%v, %v", d, err)
	}
}

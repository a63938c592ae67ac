package stage

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func sample() *report {
	none := 0
	return &report{
		Run: "r", Instances: 3, TTLMS: 2000, TookMS: 9500, Overlaps: &none, terms: 7,
		Roles:     []roleReport{{Name: "scheduler", Leader: "a-3", Epoch: 9, Terms: 3}},
		Tasks:     tally{Submitted: 5, Succeeded: 4, Failed: 1, Reruns: 2},
		Failovers: []failover{{"scheduler", crash, "a-1", "a-2", 1612.5}, {"metrics", graceful, "a-2", "a-3", 0.75}},
		Killed:    &killedWorker{"a-worker", 3, 5.5, map[string]int{"a-2": 1, "a-1": 2}, 2050},
		Faults:    []string{"x: no such file"},
	}
}

// TestReportJSON fixes the names that others read.
func TestReportJSON(t *testing.T) {
	d := &demo{options: options{json: true}, history: newHistory()}
	var progress, stdout bytes.Buffer
	d.screen = newScreen(&progress, d.history.now)
	if err := sample().publish(d, &stdout); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Instances int
		Roles     []struct{ Name, Leader string }
		Tasks     struct{ Submitted, Succeeded, Failed, Wrong, Lost, Reruns *int }
		Failovers []struct {
			Role, Kind string
			GapMS      float64 `json:"gap_ms"`
		}
		Killed struct {
			Worker  string
			Ran     int
			RerunBy map[string]int `json:"rerun_by"`
			GapMS   float64        `json:"gap_ms"`
		}
		Overlaps *int
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatalf("%v in\n%s", err, stdout.String())
	}
	if got.Instances != 3 || len(got.Roles) != 1 || got.Roles[0].Leader != "a-3" {
		t.Errorf("got %+v", got)
	}
	if got.Overlaps == nil || *got.Overlaps != 0 {
		t.Errorf("overlaps: %v", got.Overlaps)
	}
	for name, n := range map[string]*int{
		"submitted": got.Tasks.Submitted, "succeeded": got.Tasks.Succeeded, "lost": got.Tasks.Lost,
		"reruns": got.Tasks.Reruns,
	} {
		if n == nil || !strings.Contains(stdout.String(), `"`+name+`"`) {
			t.Errorf("no tasks.%s in\n%s", name, stdout.String())
		}
	}
	if f := got.Failovers; len(f) != 2 || f[0].Kind != "crash" || f[0].GapMS != 1612.5 || f[1].Kind != "graceful" {
		t.Errorf("failovers: %+v", f)
	}
	if k := got.Killed; k.Worker != "a-worker" || k.Ran != 3 || k.RerunBy["a-1"] != 2 || k.GapMS != 2050 {
		t.Errorf("killed: %+v", k)
	}
	if !strings.Contains(progress.String(),
		"a-worker, which ran 3 tasks; its guard ended its session 5.5ms later; run again by a-1 (2), a-2 (1), 2.05s later") {
		t.Errorf("nothing of the killed worker where the progress goes:\n%s", progress.String())
	}
	if !strings.Contains(progress.String(), "1.6125s") {
		t.Errorf("no summary where the progress goes:\n%s", progress.String())
	}

	several := sample()
	several.Overlaps = nil
	stdout.Reset()
	if err := several.publish(d, &stdout); err != nil || !strings.Contains(stdout.String(), `"overlaps": null`) {
		t.Errorf("with several processes (%v):\n%s", err, stdout.String())
	}
}

func TestVerdict(t *testing.T) {
	one := 1
	for name, c := range map[string]struct {
		change func(*report)
		want   error
	}{
		"well":        {func(*report) {}, nil},
		"lost":        {func(r *report) { r.Tasks.Lost = 1 }, errFaulty},
		"wrong":       {func(r *report) { r.Tasks.Wrong = 1 }, errFaulty},
		"overlapped":  {func(r *report) { r.Overlaps = &one }, errFaulty},
		"elsewhere":   {func(r *report) { r.Overlaps = nil }, nil},
		"interrupted": {func(r *report) { r.Tasks.Unfinished = 1 }, errInterrupted},
	} {
		r := sample()
		c.change(r)
		if err := r.verdict(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestPlantedOverlap goes the whole way from the history to the verdict.
func TestPlantedOverlap(t *testing.T) {
	d := &demo{history: newHistory(), cluster: &cluster{}}
	a, b := d.history.began("scheduler", "a", 1), d.history.began("scheduler", "b", 2)
	d.history.ended(a)
	r := sample()
	r.sweep(d)
	if r.Overlaps == nil || *r.Overlaps != 1 || !errors.Is(r.verdict(), errFaulty) {
		t.Fatalf("overlaps %v, verdict %v", r.Overlaps, r.verdict())
	}
	if last := r.Faults[len(r.Faults)-1]; !strings.Contains(last, "led by a (epoch 1) and b (epoch 2)") {
		t.Errorf("it is reported as %q", last)
	}
	d.history.ended(b)
}

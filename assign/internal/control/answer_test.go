package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// repeated is a list in JSON, as long as it can be in so many bytes.
func repeated(element string, most int) string {
	return "[" + strings.Repeat(element+",", most/(len(element)+1)-1) + element + "]"
}

// TestAListThatNoSchedulerMakesTakesNoMemory: of a megabyte, wherever it stands in an answer, and
// whatever it is a list of.
func TestAListThatNoSchedulerMakesTakesNoMemory(t *testing.T) {
	for _, place := range []string{
		`{"ok":true,"tasks":%s}`, `{"ok":true,"TASKS":%s}`, `{"ok":true,"ta\u0073ks":%s}`, `{"tasks":[],"tasks":%s,"ok":true}`, `{"ok":true,"ending":%s}`,
		`{"ok":true,"overview":{"kinds":[{"tenants":%s}]}}`, `{"ok":true,"overview":{"idle_kinds":%s}}`,
		`{"ok":true,"overview":{"kinds":%s}}`, `{"ok":true,"overview":{"workers":%s}}`, `{"ok":true,"overview":{"kinds":[],"workers":%s}}`,
	} {
		for _, element := range []string{`{}`, `0`, `""`, `null`, `[]`, `{"id":"","x":1}`, `{"id":"\\\"],"}`} {
			data := fmt.Appendf(nil, place, repeated(element, thorough.Pick(1<<18, 1<<20)))
			var err error
			if took := heap.Took(64<<10, func() { _, err = ReadAnswer(data) }); took > 64<<10 || !errors.Is(err, ErrCrowded) {
				t.Errorf("%.60s: %d bytes for %d, %v", data, took, len(data), err)
			}
		}
	}
}

// TestAnswersReadBack: what a scheduler writes is read as it was meant, the shortest and the
// longest.
func TestAnswersReadBack(t *testing.T) {
	page := Answer{OK: true, Cursor: 3}
	for i := range MaxPage {
		page.Tasks, page.Ending = append(page.Tasks, Task{ID: "t", State: tasks.StatePending}), append(page.Ending, i)
	}
	short := Answer{OK: true, Overview: &Overview{Scheduler: "a", Omitted: 1}}
	for range 10_000 {
		short.Overview.Kinds = append(short.Overview.Kinds, Kind{})
		short.Overview.Workers = append(short.Overview.Workers, Worker{Kinds: []string{}})
	}
	long := Answer{OK: true, Overview: &Overview{
		Scheduler: "a", Epoch: 7, Ready: true, Trouble: "]",
		Kinds: []Kind{{
			Kind: `"],[\`, Waiting: 1, Reasons: map[tasks.Reason]int{tasks.ReasonLabels: 1},
			Oldest: &Oldest{ID: "]", Waiting: 7, Reason: tasks.ReasonLabels}, Waited: &Times{1, 2, 3}, Ran: &Times{4, 5, 6},
			TenantCount: 9, Tenants: Tenants{{`"],[\`, 5}, {"", 4}},
		}},
		Idle: Idle{{Kind: "i", Ran: &Times{7, 8, 9}}, {Kind: "j", Waited: &Times{1, 2, 3}}},
		Workers: []Worker{{
			Instance: "w", Session: 9, Labels: map[string]string{"a": ",", "b": "{"},
			Kinds: []string{"k", "l"},
		}},
	}}
	for what, a := range map[string]Answer{
		"a page": page, "an empty page": {OK: true}, "short": short, "long": long,
		"nothing": {OK: true, Overview: &Overview{Kinds: []Kind{}, Workers: []Worker{}}},
		"one": {OK: true, Task: &Task{
			ID: "t", Kind: "k", State: tasks.StateRunning, Due: time.Unix(1, 0).UTC(),
			Keys: &Keys{Sticky: "a"},
		}}, "a refusal": {Error: "no"},
	} {
		data, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ReadAnswer(data); err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("%s: %.300s is read as %.300s, %v", what, data, fmt.Sprintf("%+v", got), err)
		}
	}
}

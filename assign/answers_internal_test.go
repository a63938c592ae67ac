package assign

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// repeated is a list in JSON, as long as it can be in so many bytes.
func repeated(element string, most int) string {
	return "[" + strings.Repeat(element+",", most/(len(element)+1)-1) + element + "]"
}

// TestAListThatNoSchedulerMakesTakesNoMemory: of a megabyte, wherever it stands in an answer, and whatever it is a list of.
func TestAListThatNoSchedulerMakesTakesNoMemory(t *testing.T) {
	for _, place := range []string{
		`{"ok":true,"tasks":%s}`, `{"ok":true,"TASKS":%s}`, `{"ok":true,"ta\u0073ks":%s}`, `{"tasks":[],"tasks":%s,"ok":true}`, `{"ok":true,"ending":%s}`,
		`{"ok":true,"overview":{"kinds":%s}}`, `{"ok":true,"overview":{"workers":%s}}`, `{"ok":true,"overview":{"kinds":[],"workers":%s}}`,
	} {
		for _, element := range []string{`{}`, `0`, `""`, `null`, `[]`, `{"id":"","x":1}`, `{"id":"\\\"],"}`} {
			data := fmt.Appendf(nil, place, repeated(element, 1<<20))
			for what, read := range map[string]func() error{
				"answer": func() error { _, err := readAnswer(data); return err },
				"watch": func() error {
					if w := (&watching{id: "t", inbox: "answers"}); !w.hear(&nats.Msg{Subject: w.inbox, Data: data}) {
						return errCrowded
					}
					return nil
				},
			} {
				var err error
				if took := allocated(64<<10, func() { err = read() }); took > 64<<10 || !errors.Is(err, errCrowded) {
					t.Errorf("%s, %.60s: %d bytes for %d, %v", what, data, took, len(data), err)
				}
			}
		}
	}
}

// TestAnswersReadBack: what a scheduler writes is read as it was meant, the shortest and the longest.
func TestAnswersReadBack(t *testing.T) {
	page := answer{OK: true, Cursor: 3}
	for i := range maxPage {
		page.Tasks, page.Ending = append(page.Tasks, TaskStatus{ID: "t", State: StatePending}), append(page.Ending, i)
	}
	short := answer{OK: true, Overview: &Overview{Scheduler: "a", Omitted: 1}}
	for range 10_000 {
		short.Overview.Kinds = append(short.Overview.Kinds, KindOverview{})
		short.Overview.Workers = append(short.Overview.Workers, WorkerOverview{Kinds: []string{}})
	}
	long := answer{OK: true, Overview: &Overview{
		Scheduler: "a", Epoch: 7, Ready: true, Trouble: "]", Kinds: []KindOverview{{Kind: `"],[\`, Waiting: 1, Reasons: map[Reason]int{ReasonLabels: 1}}},
		Workers: []WorkerOverview{{Instance: "w", Session: 9, Labels: map[string]string{"a": ",", "b": "{"}, Kinds: []string{"k", "l"}}},
	}}
	for what, a := range map[string]answer{
		"a page": page, "an empty page": {OK: true}, "short": short, "long": long, "nothing": {OK: true, Overview: &Overview{Kinds: []KindOverview{}, Workers: []WorkerOverview{}}},
		"one": {OK: true, Task: statusOf(&tasks.Glance{ID: "t", Kind: "k", State: "running", Due: time.Second, Keys: &tasks.Keys{Sticky: "a"}}, time.Unix(0, 0).UTC())}, "a refusal": {Error: "no"},
	} {
		data, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readAnswer(data); err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("%s: %.300s is read as %.300s, %v", what, data, fmt.Sprintf("%+v", got), err)
		}
	}
}

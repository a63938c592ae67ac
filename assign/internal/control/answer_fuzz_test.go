package control

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzAnswers: whatever is answered to a client that asks about tasks, reading it takes memory in
// proportion, its lists are not longer than a scheduler's, and its overview can be told on.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{
		`{"ok":true,"task":{"id":"t","state":"running","worker":"w","attempts":1,"progress":0.123456}}`, `{"ok":true,"task":{"id":"t","progress":1e308}}`,
		`{"ok":true,"tasks":[{"id":"t","state":"pending","due":"2026-03-28T10:07:03Z","progress":-1e300}],"ending":[0,-1,7],"cursor":3}`,
		`{"ok":true,"overview":{"scheduler":"a","epoch":7,"kinds":[{"kind":"k"}],"workers":[{"instance":"w","slots":4}]}}`, `{"error":"no"}`, `{}`, `null`, ``,
		// A task is much larger than what may stand for it, and so are a kind and a worker; what is
		// said again takes memory again.
		`{"ok":true,"tasks":` + repeated("0", 4000) + `}`, `{"ok":true,"tasks":` + repeated("{}", 4000) + `}`, `{"tasks":` + repeated(`{"id":"","state":""}`, 8000) + `}`,
		`{"ok":true,"overview":{"kinds":` + repeated("{}", 4000) + `}}`, `{"ok":true,"overview":{"workers":` + repeated("{}", 4000) + `}}`,
		`{"ok":true,"overview":{"kinds":[{` + strings.Repeat(`"oldest":{},"waited":{},"ran":{},"oldest":null,"waited":null,"ran":null,"tenants":[{},{}],`, 100) + `"kind":"k"}]}}`,
		`{"ok":true,"overview":{"kinds":` + repeated(`{"waited":{},"tenants":[{}]}`, 8000) + `}}`,
		"{" + strings.Repeat(`"task":{"headers":{"":""},"keys":{}},"task":null,`, 100) + strings.Repeat(`"tasks":[{}],"tasks":null,"overview":{"workers":[{"kinds":[""]}]},"overview":null,`, 100) + `"ok":true}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var a Answer
		var err error
		heap.Bounded(t, len(data), func() { a, err = ReadAnswer(data) })
		if err != nil {
			return
		}
		if o := a.Overview; len(a.Tasks) > MaxPage || len(a.Ending) > MaxPage ||
			o != nil && (len(o.Kinds) > roomFor(data) || len(o.Workers) > roomFor(data)) {
			t.Fatalf("%.1000s is read as %.1000s", data, fmt.Sprintf("%+v", a))
		}
		if _, err := json.Marshal(a.Overview); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
	})
}

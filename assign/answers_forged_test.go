package assign_test

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestAnswersThatNoSchedulerGives: a client does not believe an answer that no scheduler would
// give, and says so.
func TestAnswersThatNoSchedulerGives(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c, nc := New(t, s), natstest.Connect(t, s)
		answer := make(chan string, 1)
		// a client that hears nothing says so
		if _, err := nc.Subscribe(said+".ctl", func(m *nats.Msg) { _ = m.Respond([]byte(<-answer)) }); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		const two, crowd = `{"id":"a","state":"pending"},{"id":"b","state":"pending"}`, 300_000
		for _, tt := range []struct {
			answer, says string
			limit        int // 0: an overview
		}{
			{`{"ok":true,"tasks":[` + strings.Repeat("{},", crowd) + `{}]}`, "of 300001 in 900004 bytes, where there are 500 at most", 500},
			{`{"ok":true,"overview":{"kinds":[` + strings.Repeat("{},", crowd) + `{}]}}`, "of 300001 in 900004 bytes", 0},
			{`{"ok":true,"overview":{"workers":[` + strings.Repeat("{},", crowd) + `{}]}}`, "of 300001 in 900004 bytes", 0},
			{`{"ok":true,"tasks":[` + two + `]}`, "of 2 tasks, where 1 were asked for", 1},
			{`{"ok":true,"tasks":[` + two + `],"overview":{}}`, "of 2 tasks, where 0 were asked for", 0},
			{`{"ok":true,"tasks":[` + two + `],"ending":[2]}`, "makes no sense", 2},
			{`{"ok":true,"tasks":[` + two + `],"ending":[0,0]}`, "makes no sense", 2}, // each is looked up by a goroutine of its own
			{`{"ok":true,"tasks":[` + two + `],"ending":[1,0]}`, "makes no sense", 2},
		} {
			answer <- tt.answer
			var err error
			if tt.limit > 0 {
				_, err = assign.List(t.Context(), c, assign.ListOptions{Limit: tt.limit})
			} else {
				_, err = assign.GetOverview(t.Context(), c)
			}
			says(t, err, assign.ErrNoScheduler, tt.says)
		}
		answer <- `{"ok":true,"tasks":[` + two + `]}`
		if page, err := assign.List(t.Context(), c, assign.ListOptions{Limit: 2}); err != nil || len(page.Tasks) != 2 {
			t.Errorf("as many as were asked for: %+v, %v", page, err)
		}
	})
}

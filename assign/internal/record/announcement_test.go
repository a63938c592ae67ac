package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

func TestAnnouncementsReadBack(t *testing.T) {
	for _, o := range []tasks.Outcome{
		{
			Status: tasks.StatusSucceeded, Tries: 1, Attempt: tasks.Attempt{Epoch: 7, N: 2}, Instance: "w", Ran: 5000,
			Body: &frame.Finding{Data: []byte("out\nput\n")},
		},
		{Status: tasks.StatusSucceeded, Tries: 1, Body: &frame.Finding{Data: []byte("{}"), Stored: true}},
		{Status: tasks.StatusSucceeded, Tries: 1},
		{Status: tasks.StatusDead, Cause: "permanent", Tries: 3, Body: &frame.Finding{Data: []byte(`{"error":"no","stack":"a\nb"}`)}},
		// no worker of ours
		{
			Status: tasks.StatusDead, Cause: "permanent", Tries: 3,
			Body: &frame.Finding{Data: []byte("{\n\"error\":\r\n\"no\"}")},
		},
		{Status: tasks.StatusCancelled, Cause: "cancelled"},
	} {
		header, data := EncodeOutcome("k", o, "trace",
			&Submitted{Task: "policy", Keys: "keys", Meta: "meta", Data: []byte("input")})
		kept, err := DecodeOutcome(stored(header), data)
		if err != nil {
			t.Fatal(err)
		}
		b := EncodeAnnouncement(&natskv.Write{Key: QueueKey + "x", Header: header, Value: data})
		got, err := DecodeAnnouncement(b)
		if err != nil {
			t.Errorf("%q: %v", b, err)
			continue
		}
		if o.Status == tasks.StatusDead { // the input is not announced
			kept.Data = nil
		}
		if got.Fields != kept.Fields || string(got.Data) != string(kept.Data) || got.Object != kept.Object ||
			got.trace != kept.trace ||
			oneLine.Replace(got.failure) != oneLine.Replace(kept.failure) || explained(got) != explained(kept) {
			t.Errorf("%q is read as %+v, stored is %+v", b, got, kept)
		}
		if strings.Contains(string(b), "input") || strings.Contains(string(b), "policy") {
			t.Errorf("%q tells what is kept for a requeue", b)
		}
	}
}

// explained is what a failure says.
func explained(o *Outcome) string { return fmt.Sprint(o.Why()) }

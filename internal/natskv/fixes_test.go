package natskv

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestErrorsNameTheFix: errors that people meet when they set a system up say what to do.
func TestErrorsNameTheFix(t *testing.T) {
	nc := natstest.Connect(t, natstest.Server(t))
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	other := jetstream.StreamConfig{Name: "other", Subjects: []string{"$KV.taken.>"}}
	if _, err := js.CreateStream(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	_, taken := Create(t.Context(), nc, Config{Bucket: "taken"})
	for fix, err := range map[string]error{
		"use another name":       taken,
		"so set its InstanceID":  &PermissionError{Subject: "_INBOX_vm-1.x.*", Subscribe: true},
		"nats.CustomInboxPrefix": &PermissionError{Subject: "_INBOX.x.*", Subscribe: true},
	} {
		if err == nil || !strings.Contains(err.Error(), fix) {
			t.Errorf("%v: want %q", err, fix)
		}
	}
}

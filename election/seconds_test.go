package election_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
)

// TestSecondsInJSON: durations are seconds in JSON, beside all other fields, and are read again.
func TestSecondsInJSON(t *testing.T) {
	d := 1500 * time.Millisecond
	for want, value := range map[string]any{
		`{"role":"r","state":"leading","last_seen_seconds":1.5,"ttl_seconds":1.5,"since_seconds":1.5}`: &election.RoleInfo{
			Role: "r", State: election.RoleLeading, LastSeen: d, TTL: d, Since: d,
		},
		`{"role":"r","state":"vacant","since_seconds":0}`: &election.RoleInfo{Role: "r", State: election.RoleVacant},
		`{"instance":"a","session":7,"roles":["r"],"described":true,"ttl_seconds":1.5,"last_seen_seconds":0}`: &election.MemberInfo{
			Instance: "a", Session: 7, Roles: []string{"r"}, Described: true, TTL: d,
		},
	} {
		text, err := json.Marshal(reflect.ValueOf(value).Elem().Interface()) // as a value, too
		if err != nil || string(text) != want {
			t.Errorf("%s, %v, want\n%s", text, err, want)
		}
		back := reflect.New(reflect.TypeOf(value).Elem())
		if err := json.Unmarshal(text, back.Interface()); err != nil || !reflect.DeepEqual(back.Interface(), value) {
			t.Errorf("%+v, %v, want %+v", back.Interface(), err, value)
		}
	}
}

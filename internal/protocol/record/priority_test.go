package record

import (
	"errors"
	"fmt"
	"testing"
)

// A record with a priority that nobody can have is not valid, and is not read as another priority.
func TestPriorityOutOfRange(t *testing.T) {
	for priority, fits := range map[int64]bool{
		1<<31 - 1: true, 1 << 31: false, -1 << 31: true, -1<<31 - 1: false,
		1 << 32: false,
	} {
		role, err := DecodeRole(fmt.Appendf(nil, `{"v":1,"ttl_ms":1000,"id":"a","session":7,"priority":%d}`, priority), MaxSupportedTTL)
		if fits != (err == nil) || !fits && !errors.Is(err, errGarbage) || fits && int64(role.Priority) != priority {
			t.Errorf("role of priority %d: %+v, %v", priority, role, err)
		}
		member, err := DecodeMember(fmt.Appendf(nil, `{"v":1,"session":7,"roles":{"r":{"priority":%d,"eligible":true}}}`, priority))
		said, _ := member.Candidacy("r")
		if fits != (err == nil) || !fits && !errors.Is(err, errGarbage) || fits && int64(said.Priority) != priority {
			t.Errorf("member of priority %d: %+v, %v", priority, member, err)
		}
	}
}

package inventory

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// seal is the record with which a scheduler shuts out earlier schedulers.
type seal struct {
	Version int    `json:"v"`
	Epoch   uint64 `json:"epoch"`
	Holder  string `json:"holder"`
}

// SealOf reads the seal of a namespace. Epoch 0: there is no seal, or it cannot be read by this
// user or this version.
func SealOf(ctx context.Context, nc *nats.Conn, reach natskv.Reach, namespace string) findings.Seal {
	r, err := LastRecord(ctx, nc, reach, namespace, "seal")
	if err != nil {
		return findings.Seal{}
	}
	s := readSeal(r.Data)
	return findings.Seal{Epoch: s.Epoch, Holder: s.Holder}
}

func readSeal(data []byte) (s seal) {
	if json.Unmarshal(data, &s) != nil || s.Version != 1 {
		return seal{}
	}
	return s
}

// MuteScheduler is the role whose leader has sealed a namespace last, and holds it still. Ok is
// false if nobody does in the bucket, or this user may not look.
func MuteScheduler(ctx context.Context, a *cli.App, namespace string) (role findings.RoleFacts, ok bool) {
	last := SealOf(ctx, a.Conn, a.Reach(), namespace)
	if last.Epoch == 0 {
		return role, false
	}
	v, err := OpenView(ctx, a, false, nil)
	if err != nil {
		return role, false
	}
	defer v.Close()
	docs, _ := v.DescribeRoles() // without names there is no error
	for _, d := range docs {
		if d.Leader != "" && d.Epoch == last.Epoch {
			return d.RoleFacts, true
		}
	}
	return role, false
}

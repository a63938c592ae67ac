package tasks

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// plainPolicy is that of the kind plain.
const plainPolicy = `{"v":1,"kind":"plain","attempts":4,"backoff_ms":100,"max_backoff_ms":2000,"retention_s":172800}`

// Bundle stores tasks of the kind plain as one record, as a client does on a store that syncs. The
// ids are those of a block, from its first index on.
func (a *Arena) Bundle(ctx context.Context, block string, orders ...Order) error {
	m := nats.NewMsg("$KV.TASKS_" + a.Name + ".b." + block + ".0")
	m.Header.Set("Task-Bundle", `{"v":1}`)
	for i, o := range orders {
		input, err := json.Marshal(o)
		if err != nil {
			return err
		}
		m.Data = binary.AppendUvarint(m.Data, uint64(i))
		for _, part := range []string{plainPolicy, "", "", "", string(input)} {
			m.Data = binary.AppendUvarint(m.Data, uint64(len(part)))
			m.Data = append(m.Data, part...)
		}
	}
	js, err := jetstream.New(a.conns[0])
	if err != nil {
		return err
	}
	for {
		_, err := js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(0))
		var refused *jetstream.APIError
		if err == nil || errors.As(err, &refused) && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
			break // in the second case an attempt before has stored it
		}
		if ctx.Err() != nil {
			return err
		}
		time.Sleep(a.TTL / 20)
	}
	for i := range orders {
		a.RecordLog.Acked(fmt.Sprint(block, ".", i))
	}
	return nil
}

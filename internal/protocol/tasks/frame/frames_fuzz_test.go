package frame

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

// mayAllocate is how much reading a frame of n bytes may take: a multiple of it, and what the
// measure is off by.
func mayAllocate(n int) uint64 { return 256<<10 + 64*uint64(n) }

// codec is a type of frame: read returns what stands in one, write makes one of that.
type codec struct {
	name  string
	read  func([]byte) (any, error)
	write func(any) []byte
}

type (
	assignFrame struct {
		v    Envelope
		low  uint64
		list []Task
	}
	stopFrame struct {
		v Envelope
		t workers.StopOrder
	}
	answerFrame struct {
		session, number uint64
		list            []tasks.Answer
		key             string
	}
	reportFrame struct {
		instance       string
		session, epoch uint64
		list           []Finding
	}
)

var codecs = []codec{
	{"assign", func(b []byte) (any, error) {
		v, low, list, err := DecodeAssign(b)
		return assignFrame{v, low, list}, err
	}, func(x any) []byte { f := x.(assignFrame); return EncodeAssign(&f.v, f.low, f.list) }},
	{"stop", func(b []byte) (any, error) {
		v, t, err := DecodeStop(b)
		return stopFrame{v, t}, err
	}, func(x any) []byte { f := x.(stopFrame); return EncodeStop(&f.v, f.t) }},
	{"sync", func(b []byte) (any, error) {
		v, err := DecodeSync(b)
		return v, err
	}, func(x any) []byte { v := x.(Envelope); return EncodeSync(&v) }},
	{"answer", func(b []byte) (any, error) {
		session, number, list, key, err := DecodeAnswers(b)
		return answerFrame{session, number, list, key}, err
	}, func(x any) []byte { f := x.(answerFrame); return EncodeAnswers(f.session, f.number, f.list, f.key) }},
	{"synced", func(b []byte) (any, error) {
		h, err := DecodeSynced(b)
		return h, err
	}, func(x any) []byte { h := x.(Holding); return EncodeSynced(&h) }},
	{"report", func(b []byte) (any, error) {
		instance, session, epoch, list, err := DecodeReport(b)
		return reportFrame{instance, session, epoch, list}, err
	}, func(x any) []byte { f := x.(reportFrame); return EncodeReport(f.instance, f.session, f.epoch, f.list) }},
	{"settled", func(b []byte) (any, error) {
		stale, err := DecodeSettled(b)
		return stale, err
	}, func(x any) []byte { return EncodeSettled(x.([]bool)) }},
}

// samples are frames of every type, small and full.
func samples() [][]byte {
	v := Envelope{
		Namespace: "work", Role: "scheduler", Epoch: 1 << 50, Term: 1 << 49, Instance: "a.b-c",
		Session: 1<<64 - 1, Number: 6, Key: strings.Repeat("k", KeySize),
	}
	policy := &tasks.Policy{Kind: "checksum.v1", Timeout: time.Minute, Retention: time.Hour, Weight: 2}
	task := Task{
		Assignment: tasks.Assignment{
			ID: "x", Revision: 4, Attempt: tasks.Attempt{Epoch: 9, N: 1}, Serial: 3, Try: 2,
			Left: time.Second, Policy: policy, Alone: true,
		},
		Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Header: `{"k":"v"}`, Payload: []byte("in"),
		Saved: []byte("half"),
	}
	var answers []tasks.Answer
	var held []tasks.Held
	for i := range 20 {
		answers = append(answers, tasks.Answer{
			ID: strings.Repeat("y", i), Attempt: tasks.Attempt{Epoch: 9, N: uint32(i)},
			Verdict: tasks.Verdict(i),
		})
		held = append(held, tasks.Held{
			ID: strings.Repeat("z", i), Attempt: tasks.Attempt{Epoch: 9, N: uint32(i)},
			Revision: uint64(i),
		})
	}
	return [][]byte{
		EncodeAssign(&v, 2, []Task{task}), EncodeAssign(&v, 0, nil),
		EncodeAssign(&Envelope{}, 1<<63, []Task{task, task, task}),
		EncodeStop(&v, workers.StopOrder{
			ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Serial: 3,
			Status: tasks.StatusCancelled,
		}), EncodeSync(&v), EncodeAnswers(7, 6, answers, "k"), EncodeAnswers(0, 0, nil, ""),
		EncodeSynced(&Holding{Session: 7, Epoch: 9, Held: held, Beside: 300}),
		EncodeSynced(&Holding{Session: 7, Epoch: 9, Key: strings.Repeat("k", KeySize)}),
		EncodeSettled([]bool{true, false, true}), EncodeSettled(nil),
		EncodeReport("a", 7, 9, []Finding{
			{ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Verb: tasks.Succeeded, Ran: 5, Data: []byte("out")},
			{ID: "x", Verb: tasks.Overdue},
			{ID: "y", Verb: tasks.Progressing, Fraction: 0.5, Data: []byte{}},
			{ID: "z", Verb: tasks.Failed, Delay: -1, Stored: true},
		}),
	}
}

func frameSeeds(f *testing.F) {
	for _, b := range samples() {
		f.Add(b)
		f.Add(b[:len(b)/2])
		f.Add(append(b, b...))
	}
	for _, text := range []string{
		"", "\x01", "\x02\x01", "\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"\x01\x07\x80\x20", "\x01\x04\x00\x00\xff\x1f",
	} {
		f.Add([]byte(text))
	}
}

// FuzzEveryFrame: a decoder takes memory in proportion to the frame, whatever counts stand in it,
// and what it accepts it reads again from the frame that is made of it.
func FuzzEveryFrame(f *testing.F) {
	frameSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range codecs {
			var x any
			var err error
			if most := mayAllocate(len(b)); heap.Took(most, func() { x, err = c.read(b) }) > most {
				t.Errorf("%s: more than %d bytes for a frame of %d", c.name, most, len(b))
			}
			if err != nil {
				continue
			}
			again, err := c.read(c.write(x))
			if err != nil {
				t.Fatalf("%s: what was accepted is refused: %v", c.name, err)
			}
			if !reflect.DeepEqual(again, x) {
				t.Fatalf("%s: %+v becomes %+v", c.name, x, again)
			}
		}
	})
}

// TestDamagedFrames: no frame that is cut off anywhere is read as anything, but where a former
// version ends it. One with any bit turned over is never read as what it was.
func TestDamagedFrames(t *testing.T) {
	for _, whole := range samples() {
		for _, c := range codecs {
			meant, err := c.read(whole)
			if err != nil {
				continue
			}
			for n := range whole {
				if x, err := c.read(whole[:n]); err == nil && !former(c, x, whole[:n]) {
					t.Errorf("%s: %d of %d bytes are read as %+v", c.name, n, len(whole), x)
				}
			}
			for bit := range 8 * len(whole) {
				damaged := append([]byte(nil), whole...)
				damaged[bit/8] ^= 1 << (bit % 8)
				if x, err := c.read(damaged); err == nil && reflect.DeepEqual(x, meant) && !tolerated(c, whole, bit) {
					t.Errorf("%s: bit %d makes no difference to %+v", c.name, bit, x)
				}
			}
		}
	}
}

// former reports whether a frame ends before the key, or before what a worker says last, and
// nowhere else.
func former(c codec, x any, cut []byte) bool {
	rest, is := bytes.CutPrefix(c.write(x), cut)
	most := 1
	if c.name == "synced" {
		most = 2
	}
	return is && 0 < len(rest) && len(rest) <= most && len(bytes.Trim(rest, "\x00")) == 0
}

// tolerated are bits that make another spelling of the same: any number but 0 for true in settled,
// and flags of later versions in reports and above the weight of a task. Then the value that was
// read is not written as it was.
func tolerated(c codec, whole []byte, bit int) bool {
	damaged := append([]byte(nil), whole...)
	damaged[bit/8] ^= 1 << (bit % 8)
	x, err := c.read(damaged)
	return err == nil && (c.name == "settled" || c.name == "report" || c.name == "assign") &&
		!reflect.DeepEqual(c.write(x), damaged)
}

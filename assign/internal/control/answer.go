package control

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Answer is the scheduler's answer to a Query.
type Answer struct {
	// OK is false when the scheduler does not know the task, or the operation, or has too much to
	// watch.
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	// Task answers OpStatus and OpWatch. Tasks and Cursor answer OpList; Cursor is 0 on the last
	// page. Ending counts those of Tasks whose outcome is being stored, from 0: the stream knows
	// first whether the outcome is stored. Epoch is in which the scheduler began; those of earlier
	// versions do not say it, see Query.Misread.
	//
	// Tasks are also the news for OpFeed, and Cursor counts the messages of these. The answer to an
	// OpFeed says how many have been sent.
	Task     *Task     `json:"task,omitempty"`
	Tasks    []Task    `json:"tasks,omitempty"`
	Ending   []int     `json:"ending,omitempty"`
	Epoch    uint64    `json:"epoch,omitempty"`
	Cursor   uint64    `json:"cursor,omitempty"`
	Overview *Overview `json:"overview,omitempty"`
	// Differs answers OpDeclare: Error is that of two programs that declare a kind differently.
	Differs bool `json:"differs,omitempty"`
}

// ErrCrowded says that an answer lists more than it can, or more than was asked for.
var ErrCrowded = errors.New("a list that is too long")

// leastListed is fewer bytes than any task, kind or worker takes in an answer: each always names
// itself and its state.
const leastListed = 20

// ReadAnswer reads an answer that may not come from a scheduler. For lists that no scheduler makes
// it takes no more memory than a multiple of the bytes. Errors: ErrCrowded, and those of JSON.
func ReadAnswer(data []byte) (Answer, error) {
	var r struct {
		Answer
		Tasks    listedTasks  `json:"tasks"`
		Ending   listedPlaces `json:"ending"`
		Overview *struct {
			Overview
			Kinds   listedKinds   `json:"kinds"`
			Workers listedWorkers `json:"workers"`
		} `json:"overview"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return Answer{}, err
	}
	a := r.Answer
	a.Tasks, a.Ending = r.Tasks, r.Ending
	if o := r.Overview; o != nil {
		o.Overview.Kinds, o.Overview.Workers = o.Kinds, o.Workers
		a.Overview = &o.Overview
	}
	return a, nil
}

// The lists of an answer. Tasks and places are as many as a page has at most, kinds and workers as
// many as the bytes allow.
type (
	listedTasks   []Task
	listedPlaces  []int
	listedKinds   []Kind
	listedWorkers []Worker
)

func (l *listedTasks) UnmarshalJSON(data []byte) error {
	return readList(data, min(MaxPage, roomFor(data)), (*[]Task)(l))
}

func (l *listedPlaces) UnmarshalJSON(data []byte) error {
	return readList(data, MaxPage, (*[]int)(l))
}

func (l *listedKinds) UnmarshalJSON(data []byte) error {
	return readList(data, roomFor(data), (*[]Kind)(l))
}

func (l *listedWorkers) UnmarshalJSON(data []byte) error {
	return readList(data, roomFor(data), (*[]Worker)(l))
}

func (l *Idle) UnmarshalJSON(data []byte) error {
	return readList(data, min(MaxIdle, roomFor(data)), (*[]IdleKind)(l))
}

func (l *Tenants) UnmarshalJSON(data []byte) error {
	return readList(data, MaxTenants, (*[]Tenant)(l))
}

// roomFor is how many tasks, kinds or workers a list can have at most.
func roomFor(data []byte) int { return 1 + len(data)/leastListed }

// readList reads a list of at most most elements. It is made once, in the size that it needs, or
// not at all.
func readList[T any](data []byte, most int, into *[]T) error {
	n := elements(data)
	if n > most {
		return fmt.Errorf("%w: of %d in %d bytes, where there are %d at most", ErrCrowded, n, len(data), most)
	}
	list := make([]T, 0, n)
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*into = list
	return nil
}

// elements is how many elements a list has. The data is known to be JSON. It is 1 for an empty
// list, and for data that is not a list.
func elements(data []byte) int {
	n, depth, quoted := 1, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[', c == '{':
			depth++
		case c == ']', c == '}':
			depth--
		case c == ',' && depth == 1:
			n++
		}
	}
	return n
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// maxNamespaces bounds how many are looked at.
const maxNamespaces = 100

// tasks checks the tasks of every namespace that members work in, or that the server has, as far as this user may look.
func (x *examination) tasks(ctx context.Context) {
	found := map[string]bool{}
	for _, m := range x.s.Members() {
		for namespace := range m.Assign {
			found[namespace] = true
		}
	}
	var page struct {
		Streams []string `json:"streams"`
	}
	if x.answered(ctx, "$JS.API.STREAM.NAMES", nil, &page) == nil {
		for _, stream := range page.Streams {
			if namespace, ok := strings.CutPrefix(stream, tasksPrefix); ok {
				found[namespace] = true
			}
		}
	}
	namespaces := slices.Sorted(maps.Keys(found))
	for _, namespace := range namespaces[:min(len(namespaces), maxNamespaces)] {
		if ctx.Err() != nil {
			return
		}
		before := len(x.findings)
		said, there := x.namespace(ctx, namespace)
		if len(x.findings) == before {
			x.ok("tasks", "%s: %s", namespace, said)
		}
		if there {
			x.objects(ctx, namespace)
		}
	}
}

// answered asks the JetStream API. Errors: errDenied, no answer, and what the API says.
func (x *examination) answered(ctx context.Context, subject string, question, into any) error {
	data, err := json.Marshal(question)
	if err != nil {
		return err
	}
	m, denied, err := x.ask(ctx, subject, data)
	switch {
	case denied:
		return fmt.Errorf("%w: %s", errDenied, subject)
	case err != nil:
		return err
	}
	return readAnswer(m.Data, into)
}

// readAnswer reads what the JetStream API answers. What is in into after an error is not to be used.
func readAnswer(data []byte, into any) error {
	var fault struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(data, &fault); err != nil {
		return fmt.Errorf("read the answer of JetStream: %w", err)
	}
	if fault.Error != nil {
		return fault.Error
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read the answer of JetStream: %w", err)
	}
	return nil
}

// stored is a record as the JetStream API shows it.
type stored struct {
	Subject string    `json:"subject"`
	Data    []byte    `json:"data"`
	Time    time.Time `json:"time"`
}

// last asks for the record at a key of a namespace. Errors: those of answered.
func (x *examination) last(ctx context.Context, namespace, key string) (stored, error) {
	subject := namespace + "." + key
	var got messageAnswer
	if err := x.answered(ctx, "$JS.API.STREAM.MSG.GET."+tasksPrefix+namespace, map[string]string{"last_by_subj": subject}, &got); err != nil {
		return stored{}, err
	}
	return got.at(subject)
}

type messageAnswer struct {
	Message stored `json:"message"`
}

// at is the record, which is to be that of the subject that was asked for, and to say when it was stored.
func (a messageAnswer) at(subject string) (stored, error) {
	if a.Message.Subject != subject || a.Message.Time.IsZero() {
		return stored{}, fmt.Errorf("no answer about the record at %s: it is about %q", subject, a.Message.Subject)
	}
	return a.Message, nil
}

// objects checks the store for large outputs. That it is missing is told, and is not wrong: workers that may make it do so with
// the first large output, and where outputs are small it is not needed.
func (x *examination) objects(ctx context.Context, namespace string) {
	stream := objectsPrefix + tasksPrefix + namespace
	var info jetstream.StreamInfo
	err := x.answered(ctx, "$JS.API.STREAM.INFO."+stream, nil, &info)
	var missing *jetstream.APIError
	switch {
	case err == nil:
		if info.Config.AllowDirect {
			x.add(critical, "tasks", "nats stream edit "+stream+" --no-allow-direct",
				"%s: stream %s answers direct gets, so who may store an object can forge any record of the account, and workers store none there", namespace, stream)
		}
		x.used("tasks", namespace+": bytes of the object store", "raise max_bytes (nats stream edit "+stream+")", info.State.Bytes, info.Config.MaxBytes)
	case errors.Is(err, errDenied):
		x.ok("tasks", "%s: whether there is an object store was not looked at: this user may not ask for stream %s", namespace, stream)
	case errors.As(err, &missing) && missing.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		x.ok("tasks", "%s: there is no object store: outputs above 64 KiB wait until a worker makes it (StreamAutoCreate), or rolectl tasks create %[1]s does", namespace)
	default:
		x.add(unknown, "tasks", "ask again", "%s: no answer about stream %s: %v", namespace, stream, err)
	}
}

// namespace checks one, and says how it is when nothing was found to be wrong, and whether it is there.
func (x *examination) namespace(ctx context.Context, namespace string) (said string, there bool) {
	stream := tasksPrefix + namespace
	var info jetstream.StreamInfo
	err := x.answered(ctx, "$JS.API.STREAM.INFO."+stream, nil, &info)
	var missing *jetstream.APIError
	switch {
	case errors.Is(err, errDenied):
		return "not looked at: this user may not ask for stream " + stream, false
	case errors.As(err, &missing) && missing.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		x.add(critical, "tasks", "rolectl tasks create "+namespace, "%s: members work there, and there is no stream %s", namespace, stream)
		return "", false
	case err != nil:
		x.add(unknown, "tasks", "ask again", "%s: no answer about stream %s: %v", namespace, stream, err)
		return "", false
	}
	fix := "raise max_bytes and max_msgs (nats stream edit " + stream + "), or let outcomes be kept for less long (Retention)"
	x.used("tasks", namespace+": bytes of the stream", fix, info.State.Bytes, info.Config.MaxBytes)
	x.used("tasks", namespace+": records of the stream", fix, info.State.Msgs, info.Config.MaxMsgs)
	return x.scheduling(ctx, namespace, info.State.Msgs), true
}

// scheduling checks that what leads hands out tasks, and that somebody takes them.
func (x *examination) scheduling(ctx context.Context, namespace string, records uint64) string {
	c, err := assign.NewClient(x.a.nc, assign.ClientConfig{Namespace: namespace})
	if err != nil {
		return "not looked at: a stream of this name is none of tasks"
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, x.a.target.Timeout)
	defer cancel()
	o, err := overview(ctx, x.a.nc, c, namespace)
	switch {
	case err == nil:
		return x.overview(ctx, namespace, o)
	case errors.Is(err, errDenied):
		return fmt.Sprintf("not looked at: %v", err)
	case errors.Is(err, assign.ErrNoScheduler):
		return x.unscheduled(ctx, namespace, records)
	case errors.Is(err, context.DeadlineExceeded):
		x.add(unknown, "tasks", "ask again", "%s: no answer: %v", namespace, err)
	default:
		x.add(critical, "tasks", "see what it says of the stream; rolectl tasks create "+namespace+" --dry-run prints how it should be", "%s: %s", namespace, oneLine(err.Error()))
	}
	return ""
}

// seal is the record by which a scheduler shuts out those before it.
type seal struct {
	Version int    `json:"v"`
	Epoch   uint64 `json:"epoch"`
	Holder  string `json:"holder"`
}

// sealOf reads it. Epoch 0: there is none, or this user or this version may not read it.
func (x *examination) sealOf(ctx context.Context, namespace string) seal {
	r, err := x.last(ctx, namespace, "seal")
	if err != nil {
		return seal{}
	}
	return readSeal(r.Data)
}

func readSeal(data []byte) (s seal) {
	if json.Unmarshal(data, &s) != nil || s.Version != 1 {
		return seal{}
	}
	return s
}

// unscheduled says what is known while no scheduler answers.
func (x *examination) unscheduled(ctx context.Context, namespace string, records uint64) string {
	const fix = "start a process that leads the role whose Lead hands them out"
	last := x.sealOf(ctx, namespace)
	switch {
	case last.Epoch == 0 && records == 0:
		return "there are none, and nobody has handed out any yet"
	case last.Epoch == 0:
		x.add(warning, "tasks", fix, "%s: %d records, and nobody has handed out tasks yet", namespace, records)
		return ""
	}
	docs, _ := x.s.roles() // without names there is no error
	for _, d := range docs {
		if d.Leader != "" && d.Epoch == last.Epoch {
			x.add(critical, "tasks", "see the log of "+d.Leader, "%s: %s leads %s, and does not answer for its tasks", namespace, d.Leader, d.Role)
			return ""
		}
	}
	x.add(warning, "tasks", fix, "%s: nobody hands out tasks; the last was %s at epoch %d", namespace, last.Holder, last.Epoch)
	return ""
}

// overview judges what the scheduler says.
func (x *examination) overview(ctx context.Context, namespace string, o assign.Overview) string {
	if last := x.sealOf(ctx, namespace); last.Epoch != 0 && last.Epoch != o.Epoch {
		x.add(warning, "tasks", "look again in a moment; if it stays, see the log of "+o.Scheduler,
			"%s: %s leads at epoch %d, and the seal is still that of %s at epoch %d: nothing of it is stored before it has written its own",
			namespace, o.Scheduler, o.Epoch, last.Holder, last.Epoch)
	} else if !o.Ready {
		x.add(warning, "tasks", "look again in a moment; if it stays, see which of its workers do not answer: rolectl tasks overview -n "+namespace,
			"%s: %s is still taking over", namespace, o.Scheduler)
	}
	if o.Trouble != "" {
		x.add(critical, "tasks", "do what that says; until then nothing of how tasks end is stored", "%s: %s", namespace, oneLine(o.Trouble))
	}
	open := 0
	for _, k := range o.Kinds {
		open += k.Waiting + k.Delayed + k.Running
		for _, why := range slices.Sorted(maps.Keys(k.Reasons)) {
			if r, ok := unable[why]; ok && o.Ready {
				fix := strings.NewReplacer("NAMESPACE", namespace, "KIND", show.Clean(k.Kind)).Replace(r.fix)
				x.add(warning, "tasks", fix, "%s: %d tasks of kind %s wait: %s", namespace, k.Reasons[why], k.Kind, r.text)
			}
		}
	}
	present, more := 0, ""
	for _, w := range o.Workers {
		if w.Session != 0 {
			present++
		}
	}
	if o.Omitted > 0 {
		more = " at least"
	}
	return fmt.Sprintf("%d open, handed out by %s to%s %d workers", open, o.Scheduler, more, present)
}

// unable are the reasons for which tasks wait that time alone does not end, as far as the scheduler can tell.
var unable = map[assign.Reason]struct{ text, fix string }{
	assign.ReasonPaused:      {"it is paused", "rolectl tasks resume -n NAMESPACE KIND"},
	assign.ReasonNoWorker:    {"no worker handles it", "start a process that handles it, or cancel them"},
	assign.ReasonLabels:      {"no worker that handles it has their labels", "start one that has, or cancel them: rolectl tasks overview -n NAMESPACE -o wide shows labels"},
	assign.ReasonWeight:      {"no worker that handles it has so many slots", "raise the Slots of one to their Weight, or cancel them"},
	assign.ReasonDrained:     {"the workers for it are drained, or leave", "rolectl tasks drain -n NAMESPACE INSTANCE --undo, or start another one"},
	assign.ReasonUnreachable: {"the workers for it do not listen to the scheduler", "see their logs, and their permission to subscribe to NAMESPACE.work.*.<instance>"},
}

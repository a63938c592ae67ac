package control

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Task is the status of a task. Package assign documents the fields.
type Task struct {
	ID          string        `json:"id"`
	Kind        string        `json:"kind,omitempty"`
	State       tasks.State   `json:"state"`
	Reason      tasks.Reason  `json:"reason,omitempty"`
	Attempts    int           `json:"attempts,omitempty"`
	Worker      string        `json:"worker,omitempty"`
	Progress    float64       `json:"progress,omitempty"`
	Priority    int           `json:"priority,omitempty"`
	Submitted   time.Time     `json:"submitted,omitzero"`
	Due         time.Time     `json:"due,omitzero"`
	Ended       time.Time     `json:"ended,omitzero"`
	Ran         time.Duration `json:"ran_ns,omitempty"`
	Error       string        `json:"error,omitempty"`
	Cause       string        `json:"cause,omitempty"`
	TraceParent string        `json:"trace_parent,omitempty"`
	// Epoch is that of the last attempt. Only an answer to OpStatus has it.
	Epoch   uint64            `json:"epoch,omitempty"`
	Keys    *Keys             `json:"keys,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Keys are the keys that a task was submitted with. Unique is the digest of the kind and the key.
type Keys struct {
	Unique string `json:"unique,omitempty"`
	Sticky string `json:"sticky,omitempty"`
	Limit  string `json:"limit,omitempty"`
	Fair   string `json:"fair,omitempty"`
}

// Overview is the scheduler's state in numbers. Package assign documents the fields.
type Overview struct {
	Scheduler string   `json:"scheduler"`
	Epoch     uint64   `json:"epoch"`
	Ready     bool     `json:"ready"`
	Trouble   string   `json:"trouble,omitempty"`
	Kinds     []Kind   `json:"kinds"`
	Workers   []Worker `json:"workers"`
	Omitted   int      `json:"omitted,omitempty"`
	Idle      Idle     `json:"idle_kinds,omitempty"`
}

// MaxIdle is how many kinds are told of which no task is open.
const MaxIdle = 256

// Idle are kinds of which no task is open, and some have ended lately.
type Idle []IdleKind

// IdleKind is one of them.
type IdleKind struct {
	Kind   string `json:"kind"`
	Waited *Times `json:"waited,omitempty"`
	Ran    *Times `json:"ran,omitempty"`
}

// Kind is a kind that has open tasks, or is paused.
type Kind struct {
	Kind        string               `json:"kind"`
	Waiting     int                  `json:"waiting"`
	Delayed     int                  `json:"delayed"`
	Running     int                  `json:"running"`
	Paused      bool                 `json:"paused,omitempty"`
	Concurrency int                  `json:"concurrency,omitempty"`
	Rate        float64              `json:"rate,omitempty"`
	Reasons     map[tasks.Reason]int `json:"reasons,omitempty"`
	Oldest      *Oldest              `json:"oldest,omitempty"`
	Waited      *Times               `json:"waited,omitempty"`
	Ran         *Times               `json:"ran,omitempty"`
	TenantCount int                  `json:"tenant_count,omitempty"`
	Tenants     Tenants              `json:"tenants,omitempty"`
}

// Oldest is the task of a kind that has waited the longest.
type Oldest struct {
	ID      string        `json:"id"`
	Waiting time.Duration `json:"waiting_ns"`
	Reason  tasks.Reason  `json:"reason,omitempty"`
}

// Times sum up how long the tasks of a kind have waited, or run.
type Times struct {
	P50   time.Duration `json:"p50_ns"`
	P99   time.Duration `json:"p99_ns"`
	Count int           `json:"count"`
}

// MaxTenants is how many tenants of a kind are told.
const MaxTenants = 5

// Tenants are those of a kind of which the most tasks wait.
type Tenants []Tenant

// Tenant is one key of those that take turns.
type Tenant struct {
	Key     string `json:"key"`
	Waiting int    `json:"waiting"`
}

// Worker is a worker as the scheduler knows it.
type Worker struct {
	Instance    string            `json:"instance"`
	Session     uint64            `json:"session"`
	Slots       int               `json:"slots"`
	Load        int               `json:"load"`
	Draining    bool              `json:"draining,omitempty"`
	Drained     bool              `json:"drained,omitempty"`
	Unreachable bool              `json:"unreachable,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Kinds       []string          `json:"kinds"`
}

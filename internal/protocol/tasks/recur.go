package tasks

import "time"

// TickPrefix begins the ids of tasks that a recurrence has submitted: nobody else may use it.
const TickPrefix = "cron/"

// TickID is the id of the task of one tick.
func TickID(name string, tick time.Time) string {
	return TickPrefix + name + "/" + tick.UTC().Format("20060102T150405Z")
}

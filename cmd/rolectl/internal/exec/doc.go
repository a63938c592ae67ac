// Package exec holds the command "rolectl exec": it contends for a role, and runs a command only
// while this process leads the role. Package supervise ends the command before the lease runs out.
package exec

// Package feeds sends what happens to all tasks to the clients that follow them: it is the
// scheduler's part of "assign.Events". It knows neither the rules nor the connection.
package feeds

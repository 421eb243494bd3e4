package understand

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestReferencesInFiveLanguages(t *testing.T) {
	for want, all := range map[string][]string{
		"#2": {"2", "#2", "task 2", "Task #2", "number 2", "no. 2", "the second one", "second", "2nd",
			"the 2nd task", "task two", "the second on my list", "Aufgabe 2", "die zweite", "die zweite Aufgabe",
			"Nr. 2", "a segunda", "a tarefa 2", "a 2ª", "la tâche 2", "la deuxième", "la segunda", "la tarea 2",
			"number two."},
		"#1": {"the first one", "die erste", "a primeira", "la première", "el primero", "Aufgabe eins"},
		"#-1": {"the last", "last one", "die letzte", "a última", "a ultima", "la dernière",
			"la última tarea"},
		"#-2": {"the second to last one", "die vorletzte", "a penúltima"},
		"#1 #3": {"1 and 3", "1, 3", "tasks 1 and 3", "the first and the third", "1 und 3",
			"a primeira e a terceira", "1 et 3", "1 y 3"},
		"#2 #3 #4": {"2-4", "tasks 2 to 4", "2 bis 4", "from 2 to 4"},
		"#1 #2":    {"the first two", "die ersten zwei", "die ersten beiden"},
		"it":       {"it", "that one", "this task", "them", "es", "die", "isso", "essa", "ça", "eso", "the task"},
		"all": {"all", "everything", "all of them", "all my tasks", "my tasks", "all completed tasks", "alle",
			"alles", "alle Aufgaben", "tudo", "todas", "todas as tarefas", "toutes", "toutes les tâches",
			"todas las tareas"},
		"both": {"both", "both of them", "beide", "die beiden", "ambas", "as duas", "les deux", "los dos"},
		"all but #1": {"all but the first", "everything except task 1", "alle außer der ersten",
			"todas menos a primeira"},
		"[meeting]": {"the meeting task", "meeting", "the task about the meeting", "the one about the meeting",
			`the task "meeting"`, "task called “meeting”"},
		"[Zahnarzt]":    {"die Aufgabe mit dem Zahnarzt", "den beim Zahnarzt"},
		"[canalizador]": {"a do canalizador", "a tarefa do canalizador"},
		"[call 112]":    {"call 112"}, "[meeting at 3]": {"the meeting at 3"}, "[2nd of May]": {"2nd of May",
			"the 2nd of May"}, "[first draft]": {"the first draft"}, "[2 of the boxes]": {"2 of the boxes"},
		"[chapter 2]": {"chapter 2"}, "[3 May]": {"3 May"}, "[17:30]": {"17:30"}, "[0]": {"0"},
		"[Ausgabe 2026]": {"Ausgabe 2026"}, "[second-hand books]": {"the second-hand books"},
		"[2.5 kg flour]": {"2.5 kg flour"},
	} {
		for _, words := range all {
			assert.Equalf(t, Refer(words).said(), want, "%q", words)
		}
	}
	assert.That(t, Refer(" .") == nil, "no words refer to something")
}

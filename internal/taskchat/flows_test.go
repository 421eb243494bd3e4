package taskchat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/taskchat"
)

// tongue is what is said in a language: by the person, and by the assistant, where %s stands for titles.
type tongue struct {
	code                                                                               string
	groceries, call, meeting, agenda, minutes                                          string // titles
	create, list, second, update, meetings, first, board                               string
	rename, taskOne, remove, away, yes, no, rather, undo                               string
	added, shown, completed, which, toWhat, renamed, stale, sure, gone, left, reopened string
}

func tongues() []tongue {
	return []tongue{
		{"en", "buy groceries", "Call John", "Prepare meeting", "Book meeting room", "Meeting minutes",
			"remind me to buy groceries", "show my tasks", "complete task 2", "update the meeting task", "meeting",
			"the first one", "Cancel the board meeting",
			"rename task 1 to bread", "task 1", "delete task 2", "away with it", "yes", "no",
			"I would like to keep it after all", "undo that",
			"I've added '%s' to your tasks. You got this!", "Here are your tasks:",
			"Great! I've marked '%s' as completed ✓", "I found 3 tasks about '%s'. Which one did you mean?",
			"What should '%s' be changed to?", "Done: '%s' is now '%s'.",
			"I couldn't find %s. It may have been deleted. Try 'show my tasks' to see what's current.",
			"Delete '%s'? Please answer yes or no.", "I've deleted '%s'.", "All right, I've left everything as it is.",
			"'%s' is open again."},
		{"de", "Brot kaufen", "Anna anrufen", "Treffen vorbereiten", "Raum für Treffen buchen", "Protokoll zum Treffen",
			"erinnere mich daran, Brot kaufen zu gehen", "was steht an?", "die zweite ist fertig",
			"ändere die Aufgabe mit dem Treffen", "Treffen", "die erste", "Lösch das alte Treffen",
			"nenn Aufgabe 1 Milch", "Aufgabe 1", "weg mit Nummer 2", "die brauch ich nicht", "ja", "nein",
			"lieber doch nicht", "mach das rückgängig",
			"Ich habe '%s' zu deinen Aufgaben hinzugefügt.", "Das sind deine Aufgaben:",
			"Super! '%s' ist jetzt erledigt ✓", "Ich habe 3 Aufgaben zu '%s' gefunden. Welche meinst du?",
			"Wie soll '%s' geändert werden?", "Erledigt: '%s' heißt jetzt '%s'.",
			"Ich konnte %s nicht finden. Vielleicht wurde die Aufgabe gelöscht. Mit ‚zeig " +
				"meine Aufgaben‘ siehst du den aktuellen Stand.",
			"'%s' löschen? Bitte antworte mit Ja oder Nein.", "Ich habe '%s' gelöscht.",
			"In Ordnung, ich habe alles gelassen, wie es ist.", "'%s' ist wieder offen."},
		{"pt-BR", "comprar pão", "Ligar para Ana", "Preparar reunião", "Reservar sala da reunião", "Ata da reunião",
			"lembra-me de comprar pão", "o que tenho para fazer?", "a segunda já está", "muda a tarefa da reunião",
			"reunião", "a primeira", "Cancelar a reunião de sexta",
			"a tarefa 1 passa a ser leite", "tarefa 1", "tira a segunda", "essa já não quero", "sim", "não",
			"prefiro ficar com essa tarefa", "desfaz isso",
			"Adicionei '%s' às suas tarefas.", "Aqui estão as suas tarefas:", "Ótimo! Marquei '%s' como concluída ✓",
			"Encontrei 3 tarefas sobre '%s'. Qual delas você quis dizer?",
			"O que devo mudar em '%s'?", "Pronto: '%s' agora é '%s'.",
			"Não encontrei %s. Talvez tenha sido excluída. Diga 'mostre minhas tarefas' para ver a lista atual.",
			"Excluir '%s'? Responda sim ou não.", "Excluí '%s'.", "Tudo bem, deixei tudo como está.",
			"'%s' está aberta de novo."},
		{"fr-FR", "acheter du pain", "Appeler Anne", "Préparer la réunion", "Réserver une salle de réunion",
			"Compte rendu de réunion",
			"rappelle-moi d'acheter du pain", "qu'est-ce que j'ai à faire ?", "la deuxième est faite",
			"modifie la tâche de la réunion", "réunion", "la première", "Annuler la réunion de vendredi",
			"la tâche 1 devient lait", "la tâche 1", "enlève la deuxième", "je n'en veux plus", "oui", "non",
			"finalement, laisse", "annule ça",
			"J'ai ajouté '%s' à tes tâches.", "Voici tes tâches :", "Super ! '%s' est faite ✓",
			"J'ai trouvé 3 tâches sur '%s'. Laquelle ?",
			"En quoi faut-il changer '%s' ?", "C'est fait : '%s' s'appelle maintenant '%s'.", "Je n'ai pas trouvé %s.",
			"Supprimer '%s' ? Réponds par oui ou non.",
			"J'ai supprimé '%s'.", "D'accord, je n'ai rien changé.", "'%s' est de nouveau à faire."},
		{"es", "comprar pan", "Llamar a Ana", "Preparar reunión", "Reservar sala de reunión", "Acta de la reunión",
			"recuérdame comprar pan", "¿qué tengo que hacer?", "la segunda ya está", "cambia la tarea de la reunión",
			"reunión", "la primera", "Borrar la reunión vieja",
			"la tarea 1 ahora es leche", "la tarea 1", "quita la segunda", "esa ya no la quiero", "sí", "no",
			"mejor déjala", "deshaz eso",
			"He añadido '%s' a tus tareas.", "Estas son tus tareas:", "¡Genial! '%s' está hecha ✓",
			"He encontrado 3 tareas sobre '%s'. ¿Cuál?",
			"¿En qué cambio '%s'?", "Hecho: '%s' ahora es '%s'.", "No encontré %s.", "¿Borrar '%s'? Responde sí o no.",
			"He borrado '%s'.", "Vale, lo dejo todo como está.", "'%s' está abierta otra vez."},
	}
}

// sayings are what the assistant says, in the same order for each language.
func (l *tongue) sayings() []string {
	return []string{l.added, l.shown, l.completed, l.which, l.toWhat, l.renamed, l.stale, l.sure, l.gone, l.left,
		l.reopened}
}

// word says an English sentence in the language, as a model does that was told to.
func (l *tongue) word(s taskchat.Sentence) string {
	english := tongues()[0]
	for n, form := range english.sayings() {
		var first, second string
		switch strings.Count(form, "%s") {
		case 0:
			if s.Text == form {
				return l.sayings()[n]
			}
		case 1:
			before, after, _ := strings.Cut(form, "%s")
			if first, ok := strings.CutPrefix(s.Text, before); ok && strings.HasSuffix(first, after) {
				return fmt.Sprintf(l.sayings()[n], strings.TrimSuffix(first, after))
			}
		default:
			if _, err := fmt.Sscanf(strings.ReplaceAll(s.Text, "'", "\n"), "Done: \n%s", &first); err == nil {
				first, second = s.Keep[1], s.Keep[0]
				return fmt.Sprintf(l.sayings()[n], first, second)
			}
		}
	}
	return s.Text
}

// read is what a model reads in each message of the language.
func (l *tongue) read() map[string]taskchat.Heard {
	all := map[string]taskchat.Heard{
		l.create: {Intents: []taskchat.Wish{{Intent: "create", Confidence: 0.95, Title: l.groceries}}},
		l.list:   {Intents: []taskchat.Wish{wish("list", taskchat.Named{})}},
		l.second: {Intents: []taskchat.Wish{wish("complete", at(2))}},
		l.update: {Intents: []taskchat.Wish{wish("update", titled(l.meetings))}},
		l.first:  {Answer: taskchat.Said{Kind: "choice", Choices: []int{1}}},
		l.board:  {Answer: taskchat.Said{Kind: "value", Value: l.board}},
		l.rename: {Intents: []taskchat.Wish{{Intent: "update", Confidence: 0.95, Title: lastWord(l.rename),
			Task: taskchat.Named{Words: l.taskOne, Positions: []int{1}}}}},
		l.remove: {Intents: []taskchat.Wish{wish("delete", at(2))}},
		l.away:   {Intents: []taskchat.Wish{wish("delete", taskchat.Named{Words: "it", It: true})}},
		l.rather: {Answer: taskchat.Said{Kind: "no"}},
		l.undo:   {Intents: []taskchat.Wish{wish("undo", taskchat.Named{})}},
	}
	for words, h := range all {
		h.Language = l.code
		all[words] = h
	}
	return all
}

func lastWord(words string) string { return words[strings.LastIndex(words, " ")+1:] }

// flow is a conversation in a language.
type flow struct {
	*talk
	tongue
	m   *reader
	ids []int64
}

// heard says words, which the model reads unless they are a plain yes or no, and wants the very response.
func (f *flow) heard(words string, status taskchat.Status, form string, parts ...any) taskchat.AgentResponse {
	f.Helper()
	asked := len(f.m.asked)
	r := f.say(words, status)
	same(f.T, f.code+": "+words, r.Response, fmt.Sprintf(form, parts...))
	if plain := words == f.yes || words == f.no; plain == (len(f.m.asked) > asked) {
		f.Errorf("%s: the model read %d messages for “%s”", f.code, len(f.m.asked)-asked, words)
	}
	return r
}

// inEachLanguage holds a conversation about some tasks in every language.
func inEachLanguage(t *testing.T, tasks func(l tongue) []string, talk func(f *flow)) {
	for _, l := range tongues() {
		t.Run(l.code, func(t *testing.T) {
			h, m := withModel(t)
			m.by, m.say = l.read(), l.word
			ids := h.has(ada, tasks(l)...)
			talk(&flow{h.process("p").talk(ada), l, m, ids})
		})
	}
}

func two(l tongue) []string { return []string{l.groceries, l.call} }

func TestEachLanguageCreatesATask(t *testing.T) {
	inEachLanguage(t, func(tongue) []string { return nil }, func(f *flow) {
		r := f.heard(f.create, taskchat.StatusSuccess, f.added, f.groceries)
		same(f.T, "tools", called(r), []string{"add_task"})
		f.wants(ada, f.groceries)
		f.heard(f.undo, taskchat.StatusSuccess, f.m.said(f.tongue, "Undone: '%s' is off your list again."), f.groceries)
		f.wants(ada)
	})
}

// said is a form that only the templated languages say in their own words, as the others keep what their model does not
// know.
func (m *reader) said(l tongue, english string) string {
	switch l.code {
	case "de":
		return "Rückgängig gemacht: '%s' steht nicht mehr auf deiner Liste."
	case "pt-BR":
		return "Desfeito: '%s' não está mais na sua lista."
	}
	return english
}

func TestEachLanguageListsAndCompletesByPosition(t *testing.T) {
	inEachLanguage(t, two, func(f *flow) {
		f.heard(f.list, taskchat.StatusSuccess, f.shown+"\n1. %s\n2. %s", f.groceries, f.call)
		f.heard(f.second, taskchat.StatusSuccess, f.completed, f.call)
		f.wants(ada, f.groceries, f.call+" ✓")
		f.heard(f.undo, taskchat.StatusSuccess, f.reopened, f.call)
		f.wants(ada, f.groceries, f.call)
	})
}

func TestEachLanguageClarifiesByAChoiceAndANewValue(t *testing.T) {
	tasks := func(l tongue) []string { return []string{l.meeting, l.agenda, l.minutes, l.call} }
	inEachLanguage(t, tasks, func(f *flow) {
		r := f.heard(f.update, taskchat.StatusClarification, f.which+"\n1. %s\n2. %s\n3. %s",
			f.meetings, f.meeting, f.agenda, f.minutes)
		same(f.T, "options", len(r.Clarification.Options), 3)
		f.heard(f.first, taskchat.StatusClarification, f.toWhat, f.meeting)
		f.heard(f.board, taskchat.StatusSuccess, f.renamed, f.meeting, f.board)
		f.wants(ada, f.board, f.agenda, f.minutes, f.call)
	})
}

func TestEachLanguageTellsAStaleReference(t *testing.T) {
	inEachLanguage(t, two, func(f *flow) {
		f.heard(f.list, taskchat.StatusSuccess, f.shown+"\n1. %s\n2. %s", f.groceries, f.call)
		f.deleted(ada, f.ids[0])
		f.heard(f.rename, taskchat.StatusError, f.stale, f.taskOne)
		f.wants(ada, f.call)
	})
}

func TestEachLanguageConfirmsAndDeclinesADeletion(t *testing.T) {
	inEachLanguage(t, two, func(f *flow) {
		f.heard(f.list, taskchat.StatusSuccess, f.shown+"\n1. %s\n2. %s", f.groceries, f.call)
		f.heard(f.remove, taskchat.StatusConfirmation, f.sure, f.call)
		f.heard(f.no, taskchat.StatusSuccess, "%s", f.left)
		f.heard(f.away, taskchat.StatusConfirmation, f.sure, f.call)
		f.heard(f.rather, taskchat.StatusSuccess, "%s", f.left)
		f.wants(ada, f.groceries, f.call)
		f.heard(f.remove, taskchat.StatusConfirmation, f.sure, f.call)
		r := f.heard(f.yes, taskchat.StatusSuccess, f.gone, f.call)
		if !slices.Contains(called(r), "delete_task") {
			f.Error("nothing was deleted")
		}
		f.wants(ada, f.groceries)
	})
}

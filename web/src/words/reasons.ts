import { fill } from "../lib/fill";

/** Why something was decided or not done: a code, as the description of the API lists them, and words with values in them. */
export interface Why {
  why?: string;
  why_code?: string;
  why_values?: Record<string, Why>;
}

/** The sentences of the server by their codes, in German and Portuguese. Their English words come from the server. */
export const reasons: Record<string, readonly [string, string]> = {
  "left.by_choice": ["das Modell des Laufs", "o modelo da execução"],
  "left.by_fallback": ["es wurde vor einem anderen gefragt und antwortete nicht", "foi consultado antes de outro e não respondeu"],
  "rule.stays": ["nichts davon verlässt den Rechner", "nada disto sai da máquina"],
  "rule.words": ["eigene Worte dürfen etwas schreiben lassen", "palavras próprias podem causar uma escrita"],
  "rule.public": ["es wurde nichts Privates gelesen", "nada de privado foi lido"],
  "rule.known": ["die Person oder eine Suchmaschine nannte die Adresse", "a pessoa ou um motor de busca indicou o endereço"],
  "rule.query": ["kurz, und aus Wörtern der Person oder des Webs", "curto, e com palavras da pessoa ou da web"],
  "rule.trusted": ["die Person gibt dem Server auch Privates", "a pessoa deixa o servidor receber o que é privado"],
  "rule.tree": ["der Baum lässt es durch", "a árvore deixa passar"],
  "rule.allowed": ["die Person sagte Ja", "a pessoa disse que sim"],
  "left.denied": ["{why}; abgewiesen, vielleicht unterwegs", "{why}; recusado, talvez a caminho"],
  "held.strangers": ["in diesem Lauf wurde Text von Fremden gelesen", "nesta execução foi lido texto de estranhos"],
  "held.address": ["in diesem Lauf wurde Privates gelesen, und nur das Modell nannte diese Adresse", "nesta execução foi lido texto privado, e só o modelo indicou este endereço"],
  "held.long": ["in diesem Lauf wurde Privates gelesen, und die Suchanfrage hat mehr als {most} Zeichen", "nesta execução foi lido texto privado, e a pesquisa tem mais de {most} caracteres"],
  "held.server": ["in diesem Lauf wurde Privates gelesen, und der Server gehört jemand anderem", "nesta execução foi lido texto privado, e o servidor é de outra pessoa"],
  "held.unsaid": ["Privates wurde gelesen, und weder die Person noch das Web hat „{words}“ gesagt", "texto privado foi lido, e nem a pessoa nem a web disse “{words}”"],
  "held.coded": ["Privates wurde gelesen, und die Suchanfrage könnte ein Code sein: „{words}“", "texto privado foi lido, e a pesquisa pode ser um código: “{words}”"],
  "call.nobody_asked": ["{why}, darum wird es nicht aufgerufen", "{why}, por isso não é chamada"],
  "call.too_many_wait": [
    "{why}, und {others} andere Aufrufe warten schon auf die Person: Das Modell macht ohne ihn weiter und sagt es in der Antwort",
    "{why}, e {others} outras chamadas já esperam pela pessoa: o modelo continua sem ela e di-lo na resposta",
  ],
  "call.too_long": [
    "{why}, und die Person liest höchstens {most} Byte solcher Aufrufe: Das Modell soll ihn kürzen oder ohne ihn weitermachen",
    "{why}, e a pessoa lê no máximo {most} bytes destas chamadas: o modelo deve encurtá-la ou continuar sem ela",
  ],
  "call.asked_first": [
    "{why}, darum wird die Person erst gefragt: Das Modell macht ohne ihn weiter und sagt, dass er auf ihr Ja wartet",
    "{why}, por isso pergunta-se primeiro à pessoa: o modelo continua sem ela e diz que espera pelo seu sim",
  ],
  "call.too_many": ["eine Runde darf höchstens {most} Werkzeuge aufrufen", "um turno pode chamar no máximo {most} ferramentas"],
  "call.not_offered": ["es wird für diese Frage nicht angeboten", "não é oferecida para esta pergunta"],
  "call.named_twice": ["in den Argumenten steht der Name „{name}“ zweimal; jeder darf nur einmal vorkommen", "os argumentos têm o nome “{name}” duas vezes; cada um só pode aparecer uma vez"],
  "call.no_address": ["es nennt keine Adresse", "não indica nenhum endereço"],
  "call.not_there": ["es ist für diese Frage nicht da", "não existe para esta pergunta"],
  "call.not_seen": ["es ist nicht das, was die Person gesehen hat", "não é o que a pessoa viu"],
  "call.not_admitted": ["der Baum hat es nicht zugelassen", "a árvore não a admitiu"],
  "reply.asks_tools": ["sie ruft Werkzeuge auf", "chama ferramentas"],
  "reply.has_enough": ["sie hat Text, und der Kontext reicht für eine Antwort", "tem texto, e o contexto chega para uma resposta"],
  "reply.ends_asking": ["sie endet mit einer Frage an die Person", "termina com uma pergunta à pessoa"],
  "reply.as_any_other": ["was fehlt, wird verlangt wie bei jeder anderen Antwort", "o que falta é pedido como em qualquer outra resposta"],
  "reply.says_the_same": ["sie sagt dasselbe, aber die vorige Runde brachte etwas Neues", "diz o mesmo, mas o turno anterior trouxe algo novo"],
  "source.more": ["es gibt eine Quelle, die nicht angeboten wurde", "há uma fonte que não foi oferecida"],
  "source.other_words": ["es wurde etwas gefunden, andere Suchwörter finden vielleicht mehr", "algo foi encontrado, outras palavras podem encontrar mais"],
  "source.all_tried": ["jede Quelle wurde durchsucht", "todas as fontes foram pesquisadas"],
  "source.none_left": ["kein anderer Weg bleibt; nicht durchsucht: {sources}", "não resta outro caminho; não pesquisado: {sources}"],
  "source.not_all": ["etwas Angebotenes wurde noch nicht durchsucht: {sources}", "ainda não se pesquisou algo que é oferecido: {sources}"],
  "reply.supported": ["eine Quelle wurde gelesen, oder es braucht keine", "uma fonte foi lida, ou nenhuma é precisa"],
  "reply.claims_none": ["sie will keine Antwort sein", "não pretende ser uma resposta"],
  "reply.unsupported": ["noch stützt sie nichts", "ainda nada a apoia"],
  "reply.hint_failed": ["ein Hinweis half nicht", "uma indicação não ajudou"],
  "reply.classified": ["der Klassifikator sagt es ({score})", "di-lo o classificador ({score})"],
  "signal.same": ["{times}-mal „{reason}“", "{times} vezes “{reason}”"],
  "signal.silent": ["{turns} Runden ohne Signal", "{turns} turnos sem sinal"],
  "signal.unsure": ["{signal} mit einer Zuversicht von {confidence}", "{signal} com uma confiança de {confidence}"],
  "task.one_title": ["mehrere können nicht einen Titel haben", "várias não podem ter um só título"],
  "task.too_many": ["zu viele", "demasiadas"],
  "task.none": ["es gibt keine", "não há nenhuma"],
  "task.no_task": ["es gibt keine Aufgabe", "não há nenhuma tarefa"],
  "task.no_position": ["diese Stelle gibt es nicht", "não existe essa posição"],
  "task.unsaid": ["es ist nicht gesagt, welche", "não se diz qual"],
  "task.chosen": ["so wurde es gewählt", "como foi escolhido"],
  "task.gone": ["nicht mehr da", "já não existe"],
  "task.shown": ["wie die letzte Liste zeigt", "como mostra a última lista"],
  "task.both": ["„beide“ von {n} Aufgaben", "“ambas” de {n} tarefas"],
  "task.all": ["alle", "todas"],
  "task.except": ["es ist nicht klar, was ausgenommen ist", "não é claro o que fica de fora"],
  "task.none_left": ["es bleibt nichts übrig", "não sobra nada"],
  "task.all_but": ["alle außer den ausgenommenen", "todas menos as excetuadas"],
  "task.redacted": ["was herausgenommen wurde, lässt sich nicht vergleichen", "o que foi retirado não pode ser comparado"],
  "task.no_title": ["kein Titel hat alle diese Wörter", "nenhum título tem todas estas palavras"],
  "task.no_words": ["keine Aufgabe hat diese Wörter", "nenhuma tarefa tem estas palavras"],
  "task.only": ["der einzige Titel mit diesen Wörtern", "o único título com estas palavras"],
  "task.several": ["{n} Titel haben diese Wörter", "{n} títulos têm estas palavras"],
  "sitting.too_few": ["weniger als zwei Orakel haben geantwortet", "responderam menos de dois oráculos"],
  "run.set_aside": [
    "der Lauf {run} wurde {tries}-mal aufgenommen, und jedes Mal endete das Programm, bevor es die Aufzeichnungen des Laufs gelesen hatte",
    "a execução {run} foi retomada {tries} vezes, e de cada vez o programa terminou antes de ler os seus registos",
  ],
};

/** A reason, by the sentences of a language. What has no code in them stays as the server says it. */
export function reasonIn(sentences: Readonly<Record<string, string>>, said: Why): string {
  const words = sentences[said.why_code ?? ""];
  return words === undefined ? (said.why ?? "") : fill(words, (name) => reasonIn(sentences, said.why_values?.[name] ?? {}));
}

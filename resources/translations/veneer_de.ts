<?xml version='1.0' encoding='utf-8'?>
<TS version="2.1" language="de">
  <context>
    <name>About</name>
    <message>
      <source>Ask llama.cpp</source>
      <translation>llama.cpp fragen</translation>
    </message>
    <message>
      <source>Copy</source>
      <translation>Kopieren</translation>
    </message>
    <message>
      <source>GPUs: {0}</source>
      <translation>GPUs: {0}</translation>
    </message>
    <message>
      <source>none</source>
      <translation>keine</translation>
    </message>
    <message>
      <source>Lane overlay: available, with the kernels {0}</source>
      <translation>Weg „overlay“: vorhanden, mit den Kernen {0}</translation>
    </message>
    <message>
      <source>Lane overlay: not available: {0}</source>
      <translation>Weg „overlay“: nicht vorhanden: {0}</translation>
    </message>
    <message>
      <source>Lane stock: available</source>
      <translation>Weg „stock“: vorhanden</translation>
    </message>
  </context>
  <context>
    <name>AboutDialog</name>
    <message>
      <source>About Veneer</source>
      <translation>Über Veneer</translation>
    </message>
    <message>
      <source>Stack, weigh, switch and share LoRA adapters over one immutable base.</source>
      <translation>LoRA-Adapter über einem unveränderlichen Modell stapeln, gewichten, wechseln und weitergeben.</translation>
    </message>
    <message>
      <source>Close</source>
      <translation>Schließen</translation>
    </message>
  </context>
  <context>
    <name>Actions</name>
    <message>
      <source>Add to the stack</source>
      <translation>Zum Stapel</translation>
    </message>
    <message>
      <source>Enter, or drag it to Stacks</source>
      <translation>Eingabetaste, oder zu den Stapeln ziehen</translation>
    </message>
    <message>
      <source>Targets…</source>
      <translation>Ziele…</translation>
    </message>
    <message>
      <source>Show in folder</source>
      <translation>Im Ordner zeigen</translation>
    </message>
    <message>
      <source>Verify again</source>
      <translation>Erneut prüfen</translation>
    </message>
    <message>
      <source>Remove…</source>
      <translation>Entfernen…</translation>
    </message>
    <message>
      <source>Stop ({percent} %)</source>
      <translation>Anhalten ({percent} %)</translation>
    </message>
    <message>
      <source>“{name}” is on disk as it was imported.</source>
      <translation>„{name}“ liegt so auf der Platte, wie es importiert wurde.</translation>
    </message>
    <message>
      <source>It leaves the library. The file it was imported from stays where it is.</source>
      <translation>Es verlässt die Bibliothek. Die Datei, aus der es importiert wurde, bleibt, wo sie ist.</translation>
    </message>
    <message>
      <source>Needed by: {stacks}. Remove those stacks first.</source>
      <translation>Gebraucht von: {stacks}. Entfernen Sie zuerst diese Stapel.</translation>
    </message>
    <message>
      <source>Remove “{name}”?</source>
      <translation>„{name}“ entfernen?</translation>
    </message>
    <message>
      <source>Remove</source>
      <translation>Entfernen</translation>
    </message>
  </context>
  <context>
    <name>Answer</name>
    <message>
      <source>Answer</source>
      <translation>Antwort</translation>
    </message>
    <message>
      <source>Made by {name}</source>
      <translation>Von {name}</translation>
    </message>
    <message>
      <source>What made this answer</source>
      <translation>Woher diese Antwort kommt</translation>
    </message>
    <message>
      <source>Copy this answer</source>
      <translation>Diese Antwort kopieren</translation>
    </message>
    <message>
      <source>Answer once more (Ctrl+R)</source>
      <translation>Noch einmal antworten (Strg+R)</translation>
    </message>
    <message>
      <source>Delete from here on</source>
      <translation>Ab hier löschen</translation>
    </message>
    <message>
      <source>Go on with this answer (Ctrl+Return)</source>
      <translation>Diese Antwort fortsetzen (Strg+Eingabe)</translation>
    </message>
  </context>
  <context>
    <name>Attachments</name>
    <message>
      <source>Take {name} away</source>
      <translation>{name} wegnehmen</translation>
    </message>
    <message>
      <source>Take this file away again</source>
      <translation>Diese Datei wieder wegnehmen</translation>
    </message>
  </context>
  <context>
    <name>BaseCard</name>
    <message>
      <source>Base</source>
      <translation>Basis</translation>
    </message>
    <message>
      <source>{parameters} parameters, {size}, never changed</source>
      <translation>{parameters} Parameter, {size}, nie verändert</translation>
    </message>
    <message>
      <source>This base is not in the library any more.</source>
      <translation>Diese Basis ist nicht mehr in der Bibliothek.</translation>
    </message>
  </context>
  <context>
    <name>Bubble</name>
    <message>
      <source>Show the one before (Alt+Left)</source>
      <translation>Die vorige zeigen (Alt+Links)</translation>
    </message>
    <message>
      <source>Show the next one (Alt+Right)</source>
      <translation>Die nächste zeigen (Alt+Rechts)</translation>
    </message>
    <message>
      <source>{n} of {all}</source>
      <translation>{n} von {all}</translation>
    </message>
  </context>
  <context>
    <name>BugDialog</name>
    <message>
      <source>Something went wrong</source>
      <translation>Etwas ist schiefgegangen</translation>
    </message>
    <message>
      <source>Report</source>
      <translation>Bericht</translation>
    </message>
    <message>
      <source>This is a mistake in Veneer, not yours. What was active is still active, and nothing was lost. The report below helps to find it; it contains file paths of this computer.</source>
      <translation>Das ist ein Fehler von Veneer, nicht Ihrer. Was aktiv war, ist es noch, und nichts ging verloren. Der Bericht hilft, ihn zu finden; er enthält Dateipfade dieses Rechners.</translation>
    </message>
    <message>
      <source>Copy report</source>
      <translation>Bericht kopieren</translation>
    </message>
    <message>
      <source>Close</source>
      <translation>Schließen</translation>
    </message>
  </context>
  <context>
    <name>Chat</name>
    <message>
      <source>{n} tokens</source>
      <translation>{n} Token</translation>
    </message>
    <message>
      <source>first after {time}</source>
      <translation>erstes nach {time}</translation>
    </message>
    <message>
      <source>{n} tok/s</source>
      <translation>{n} Tok/s</translation>
    </message>
    <message>
      <source>complete</source>
      <translation>vollständig</translation>
    </message>
    <message>
      <source>cut at the token limit</source>
      <translation>am Token-Limit abgeschnitten</translation>
    </message>
    <message>
      <source>stopped</source>
      <translation>angehalten</translation>
    </message>
    <message>
      <source>the composition was changed</source>
      <translation>die Komposition wurde gewechselt</translation>
    </message>
  </context>
  <context>
    <name>ChatPlace</name>
    <message>
      <source>No model yet</source>
      <translation>Noch kein Modell</translation>
    </message>
    <message>
      <source>Drop a GGUF model onto this window and talk to it. Then drop LoRA adapters, stack them over it, and switch with one click.</source>
      <translation>Ziehen Sie ein GGUF-Modell auf dieses Fenster und sprechen Sie mit ihm. Ziehen Sie dann LoRA-Adapter herein, stapeln Sie sie darüber und wechseln Sie mit einem Klick.</translation>
    </message>
    <message>
      <source>Use the embedded model</source>
      <translation>Das mitgelieferte Modell verwenden</translation>
    </message>
    <message>
      <source>Import files…</source>
      <translation>Dateien importieren…</translation>
    </message>
    <message>
      <source>Ask something</source>
      <translation>Fragen Sie etwas</translation>
    </message>
    <message>
      <source>The stack that is marked below answers. Click another to switch.</source>
      <translation>Der unten markierte Stapel antwortet. Ein Klick auf einen anderen wechselt.</translation>
    </message>
    <message>
      <source>Nothing is running yet</source>
      <translation>Noch läuft nichts</translation>
    </message>
    <message>
      <source>Click the base or a stack below; then it answers.</source>
      <translation>Klicken Sie unten auf die Basis oder einen Stapel, dann antwortet er.</translation>
    </message>
    <message>
      <source>Delete from here on?</source>
      <translation>Ab hier löschen?</translation>
    </message>
    <message>
      <source>This message and all that follows it are gone for good.</source>
      <translation>Diese Nachricht und alle, die ihr folgen, sind endgültig weg.</translation>
    </message>
    <message>
      <source>Delete</source>
      <translation>Löschen</translation>
    </message>
  </context>
  <context>
    <name>CodeBlock</name>
    <message>
      <source>Code, {language}</source>
      <translation>Code, {language}</translation>
    </message>
    <message>
      <source>plain</source>
      <translation>einfach</translation>
    </message>
    <message>
      <source>Copy this code</source>
      <translation>Diesen Code kopieren</translation>
    </message>
  </context>
  <context>
    <name>ComparePage</name>
    <message>
      <source>First stack</source>
      <translation>Erster Stapel</translation>
    </message>
    <message>
      <source>Second stack</source>
      <translation>Zweiter Stapel</translation>
    </message>
    <message>
      <source>Third stack</source>
      <translation>Dritter Stapel</translation>
    </message>
    <message>
      <source>The question for all of them</source>
      <translation>Die Frage an alle</translation>
    </message>
    <message>
      <source>Question</source>
      <translation>Frage</translation>
    </message>
    <message>
      <source>Ask them</source>
      <translation>Fragen</translation>
    </message>
    <message>
      <source>Ctrl+Enter</source>
      <translation>Strg+Eingabe</translation>
    </message>
    <message>
      <source>Stop</source>
      <translation>Anhalten</translation>
    </message>
    <message>
      <source>Note</source>
      <translation>Notiz</translation>
    </message>
    <message>
      <source>A note about these answers</source>
      <translation>Eine Notiz zu diesen Antworten</translation>
    </message>
    <message>
      <source>Mark differences</source>
      <translation>Unterschiede markieren</translation>
    </message>
    <message>
      <source>Back to the conversation (Esc)</source>
      <translation>Zurück zum Gespräch (Esc)</translation>
    </message>
    <message>
      <source>Earlier comparisons</source>
      <translation>Frühere Vergleiche</translation>
    </message>
    <message>
      <source>Each stack answers in turn, with the same seed. What is active now comes back afterwards.</source>
      <translation>Die Stapel antworten nacheinander, mit demselben Startwert. Danach ist wieder aktiv, was jetzt aktiv ist.</translation>
    </message>
    <message>
      <source>Compare</source>
      <translation>Vergleichen</translation>
    </message>
    <message>
      <source>No third stack</source>
      <translation>Kein dritter Stapel</translation>
    </message>
  </context>
  <context>
    <name>Composer</name>
    <message>
      <source>System prompt</source>
      <translation>System-Prompt</translation>
    </message>
    <message>
      <source>Greedy</source>
      <translation>Gierig</translation>
    </message>
    <message>
      <source>Seed {n}</source>
      <translation>Startwert {n}</translation>
    </message>
    <message>
      <source>The question is asked anew, beside the one before it.</source>
      <translation>Die Frage wird neu gestellt, neben der bisherigen.</translation>
    </message>
    <message>
      <source>Leave the question as it is (Esc)</source>
      <translation>Die Frage lassen, wie sie ist (Esc)</translation>
    </message>
    <message>
      <source>Attach text files</source>
      <translation>Textdateien anhängen</translation>
    </message>
    <message>
      <source>System prompt, sampling, presets (Ctrl+;)</source>
      <translation>Systemprompt, Sampling, Voreinstellungen (Strg+;)</translation>
    </message>
    <message>
      <source>Compare stacks (Ctrl+K)</source>
      <translation>Stapel vergleichen (Strg+K)</translation>
    </message>
    <message>
      <source>Send (Enter)</source>
      <translation>Senden (Eingabe)</translation>
    </message>
    <message>
      <source>Stop (Esc)</source>
      <translation>Anhalten (Esc)</translation>
    </message>
  </context>
  <context>
    <name>Conversations</name>
    <message>
      <source>Conversations</source>
      <translation>Gespräche</translation>
    </message>
    <message>
      <source>New conversation</source>
      <translation>Neues Gespräch</translation>
    </message>
    <message>
      <source>Ctrl+N</source>
      <translation>Strg+N</translation>
    </message>
    <message>
      <source>Unpin</source>
      <translation>Lösen</translation>
    </message>
    <message>
      <source>Pin to the top</source>
      <translation>Oben anheften</translation>
    </message>
    <message>
      <source>Search all conversations</source>
      <translation>Alle Gespräche durchsuchen</translation>
    </message>
    <message>
      <source>Search (Ctrl+F)</source>
      <translation>Suchen (Strg+F)</translation>
    </message>
    <message>
      <source>Clear the search</source>
      <translation>Suche leeren</translation>
    </message>
    <message>
      <source>Rename (F2)</source>
      <translation>Umbenennen (F2)</translation>
    </message>
    <message>
      <source>Export (Ctrl+Shift+E)</source>
      <translation>Exportieren (Strg+Umschalt+E)</translation>
    </message>
    <message>
      <source>Delete this conversation</source>
      <translation>Dieses Gespräch löschen</translation>
    </message>
    <message>
      <source>Export this conversation</source>
      <translation>Dieses Gespräch exportieren</translation>
    </message>
    <message>
      <source>Markdown (*.md)</source>
      <translation>Markdown (*.md)</translation>
    </message>
    <message>
      <source>JSON (*.json)</source>
      <translation>JSON (*.json)</translation>
    </message>
    <message>
      <source>Delete this conversation?</source>
      <translation>Dieses Gespräch löschen?</translation>
    </message>
    <message>
      <source>Its messages are gone for good.</source>
      <translation>Seine Nachrichten sind dann endgültig fort.</translation>
    </message>
    <message>
      <source>Delete</source>
      <translation>Löschen</translation>
    </message>
    <message>
      <source>Pinned · {about}</source>
      <translation>Angeheftet · {about}</translation>
    </message>
  </context>
  <context>
    <name>Details</name>
    <message>
      <source>Name</source>
      <translation>Name</translation>
    </message>
    <message>
      <source>Details</source>
      <translation>Einzelheiten</translation>
    </message>
  </context>
  <context>
    <name>Draft</name>
    <message>
      <source>Nothing is active yet.</source>
      <translation>Noch ist nichts aktiv.</translation>
    </message>
    <message>
      <source>Another base than the active one.</source>
      <translation>Eine andere Basis als die aktive.</translation>
    </message>
    <message>
      <source>Against the active one: {changes}</source>
      <translation>Gegenüber dem aktiven: {changes}</translation>
    </message>
    <message>
      <source>Against the active one: another order.</source>
      <translation>Gegenüber dem aktiven: andere Reihenfolge.</translation>
    </message>
    <message>
      <source>This is what is active.</source>
      <translation>Das ist, was aktiv ist.</translation>
    </message>
  </context>
  <context>
    <name>DropOverlay</name>
    <message>
      <source>Drop files to import them</source>
      <translation>Dateien zum Importieren ablegen</translation>
    </message>
    <message>
      <source>Drop to import</source>
      <translation>Zum Importieren ablegen</translation>
    </message>
    <message>
      <source>GGUF models, LoRA adapters, PEFT folders, stacks (.slm); several at once</source>
      <translation>GGUF-Modelle, LoRA-Adapter, PEFT-Ordner, Stapel (.slm); auch mehrere zugleich</translation>
    </message>
  </context>
  <context>
    <name>Editor</name>
    <message>
      <source>New stack</source>
      <translation>Neuer Stapel</translation>
    </message>
    <message>
      <source>Rename</source>
      <translation>Umbenennen</translation>
    </message>
    <message>
      <source>Change base</source>
      <translation>Basis wechseln</translation>
    </message>
    <message>
      <source>Add</source>
      <translation>Hinzufügen</translation>
    </message>
    <message>
      <source>Remove</source>
      <translation>Entfernen</translation>
    </message>
    <message>
      <source>Change strength</source>
      <translation>Stärke ändern</translation>
    </message>
    <message>
      <source>Switch</source>
      <translation>Umschalten</translation>
    </message>
    <message>
      <source>Solo</source>
      <translation>Solo</translation>
    </message>
    <message>
      <source>Blend</source>
      <translation>Mischung</translation>
    </message>
    <message>
      <source>Move</source>
      <translation>Verschieben</translation>
    </message>
  </context>
  <context>
    <name>Errors</name>
    <message>
      <source>Something went wrong inside Veneer. The report says more.</source>
      <translation>In Veneer ist etwas schiefgegangen. Der Bericht sagt mehr.</translation>
    </message>
  </context>
  <context>
    <name>Events</name>
    <message>
      <source>Roll back to this</source>
      <translation>Hierher zurückkehren</translation>
    </message>
    <message>
      <source>Steps of this generation</source>
      <translation>Schritte dieser Generation</translation>
    </message>
    <message>
      <source>Generation {n}</source>
      <translation>Generation {n}</translation>
    </message>
    <message>
      <source>Composition {id}</source>
      <translation>Komposition {id}</translation>
    </message>
    <message>
      <source>{who}, {when}</source>
      <translation>{who}, {when}</translation>
    </message>
    <message>
      <source>Rolled back to {n}</source>
      <translation>Zurückgekehrt zu {n}</translation>
    </message>
    <message>
      <source>Confirmed: “{adapter}” belongs on “{base}”</source>
      <translation>Bestätigt: „{adapter}“ gehört auf „{base}“</translation>
    </message>
  </context>
  <context>
    <name>Facts</name>
    <message>
      <source>Used by</source>
      <translation>Gebraucht von</translation>
    </message>
    <message>
      <source>Memory at {n}</source>
      <translation>Speicher bei {n}</translation>
    </message>
    <message>
      <source>Model</source>
      <translation>Modell</translation>
    </message>
    <message>
      <source>Architecture</source>
      <translation>Architektur</translation>
    </message>
    <message>
      <source>Parameters</source>
      <translation>Parameter</translation>
    </message>
    <message>
      <source>Layers</source>
      <translation>Schichten</translation>
    </message>
    <message>
      <source>Trained context</source>
      <translation>Trainierter Kontext</translation>
    </message>
    <message>
      <source>Vocabulary</source>
      <translation>Vokabular</translation>
    </message>
    <message>
      <source>Chat template</source>
      <translation>Chat-Vorlage</translation>
    </message>
    <message>
      <source>Made by</source>
      <translation>Von</translation>
    </message>
    <message>
      <source>Finetune</source>
      <translation>Feinabstimmung</translation>
    </message>
    <message>
      <source>From</source>
      <translation>Aus</translation>
    </message>
    <message>
      <source>License</source>
      <translation>Lizenz</translation>
    </message>
    <message>
      <source>Size</source>
      <translation>Größe</translation>
    </message>
    <message>
      <source>Digest</source>
      <translation>Prüfsumme</translation>
    </message>
    <message>
      <source>Tokenizer id</source>
      <translation>Tokenizer-Kennung</translation>
    </message>
    <message>
      <source>Architecture id</source>
      <translation>Architektur-Kennung</translation>
    </message>
    <message>
      <source>File</source>
      <translation>Datei</translation>
    </message>
    <message>
      <source>Added</source>
      <translation>Hinzugefügt</translation>
    </message>
    <message>
      <source>Attention</source>
      <translation>Aufmerksamkeit</translation>
    </message>
    <message>
      <source>Feed-forward</source>
      <translation>Feed-forward</translation>
    </message>
    <message>
      <source>Embeddings</source>
      <translation>Einbettungen</translation>
    </message>
    <message>
      <source>Output</source>
      <translation>Ausgabe</translation>
    </message>
    <message>
      <source>Norms</source>
      <translation>Normen</translation>
    </message>
    <message>
      <source>Other weights</source>
      <translation>Andere Gewichte</translation>
    </message>
    <message>
      <source>low-rank products</source>
      <translation>Niedrigrang-Produkte</translation>
    </message>
    <message>
      <source>magnitudes (DoRA)</source>
      <translation>Beträge (DoRA)</translation>
    </message>
    <message>
      <source>scaled outputs</source>
      <translation>skalierte Ausgaben</translation>
    </message>
    <message>
      <source>scaled inputs</source>
      <translation>skalierte Eingaben</translation>
    </message>
    <message>
      <source>biases</source>
      <translation>Bias-Werte</translation>
    </message>
    <message>
      <source>added biases</source>
      <translation>addierte Bias-Werte</translation>
    </message>
    <message>
      <source>replaced weights</source>
      <translation>ersetzte Gewichte</translation>
    </message>
    <message>
      <source>retrained tokens</source>
      <translation>neu trainierte Tokens</translation>
    </message>
    <message>
      <source>sparse changes</source>
      <translation>dünne Änderungen</translation>
    </message>
    <message>
      <source>directions</source>
      <translation>Richtungen</translation>
    </message>
    <message>
      <source>trained prompts</source>
      <translation>trainierte Prompts</translation>
    </message>
    <message>
      <source>trained prefixes</source>
      <translation>trainierte Präfixe</translation>
    </message>
    <message>
      <source>{scale} on {n} of {of}</source>
      <translation>{scale} auf {n} von {of}</translation>
    </message>
    <message>
      <source>none</source>
      <translation>keine</translation>
    </message>
    <message>
      <source>Made for</source>
      <translation>Gemacht für</translation>
    </message>
    <message>
      <source>Rank</source>
      <translation>Rang</translation>
    </message>
    <message>
      <source>Targets</source>
      <translation>Ziele</translation>
    </message>
    <message>
      <source>What it does</source>
      <translation>Was er tut</translation>
    </message>
    <message>
      <source>Effective scale</source>
      <translation>Wirksame Stärke</translation>
    </message>
    <message>
      <source>Acts after tokens</source>
      <translation>Wirkt nach Tokens</translation>
    </message>
    <message>
      <source>Weights</source>
      <translation>Gewichte</translation>
    </message>
    <message>
      <source>Files</source>
      <translation>Dateien</translation>
    </message>
    <message>
      <source>Source</source>
      <translation>Quelle</translation>
    </message>
  </context>
  <context>
    <name>FirstRun</name>
    <message>
      <source>Use the embedded model</source>
      <translation>Das mitgelieferte Modell verwenden</translation>
    </message>
    <message>
      <source>Choose a GGUF file…</source>
      <translation>GGUF-Datei wählen…</translation>
    </message>
    <message>
      <source>Take a demo adapter</source>
      <translation>Beispieladapter nehmen</translation>
    </message>
    <message>
      <source>Choose an adapter…</source>
      <translation>Adapter wählen…</translation>
    </message>
    <message>
      <source>Go on without</source>
      <translation>Ohne weitermachen</translation>
    </message>
    <message>
      <source>Your first question</source>
      <translation>Ihre erste Frage</translation>
    </message>
    <message>
      <source>Hello! Who are you?</source>
      <translation>Hallo! Wer bist du?</translation>
    </message>
    <message>
      <source>Say hello</source>
      <translation>Sagen Sie Hallo</translation>
    </message>
    <message>
      <source>Skip the introduction</source>
      <translation>Einführung überspringen</translation>
    </message>
    <message>
      <source>Welcome to Veneer</source>
      <translation>Willkommen bei Veneer</translation>
    </message>
    <message>
      <source>First a model: drop a GGUF file of your own onto this window or choose it here. It is used where it lies and never changed.</source>
      <translation>Zuerst ein Modell: Ziehen Sie eine eigene GGUF-Datei auf dieses Fenster oder wählen Sie sie hier. Sie wird verwendet, wo sie liegt, und nie verändert.</translation>
    </message>
    <message>
      <source>Lay an adapter over it</source>
      <translation>Legen Sie einen Adapter darüber</translation>
    </message>
    <message>
      <source>“{base}” is here. Now drop a LoRA adapter onto this window: a GGUF or safetensors file, or a PEFT folder. It can be taken off again at any time.</source>
      <translation>„{base}“ ist da. Ziehen Sie nun einen LoRA-Adapter auf dieses Fenster: eine GGUF- oder safetensors-Datei oder einen PEFT-Ordner. Er lässt sich jederzeit wieder abnehmen.</translation>
    </message>
    <message>
      <source>“{adapter}” over “{base}” will answer.</source>
      <translation>„{adapter}“ über „{base}“ wird antworten.</translation>
    </message>
    <message>
      <source>“{base}” will answer.</source>
      <translation>„{base}“ wird antworten.</translation>
    </message>
    <message>
      <source>1  Model</source>
      <translation>1  Modell</translation>
    </message>
    <message>
      <source>2  Adapter</source>
      <translation>2  Adapter</translation>
    </message>
    <message>
      <source>3  Hello</source>
      <translation>3  Hallo</translation>
    </message>
  </context>
  <context>
    <name>Grip</name>
    <message>
      <source>Drag to change the order</source>
      <translation>Ziehen ändert die Reihenfolge</translation>
    </message>
  </context>
  <context>
    <name>Hints</name>
    <message>
      <source>Put the words that call “{name}” into the question</source>
      <translation>Die Worte, die „{name}“ rufen, in die Frage setzen</translation>
    </message>
    <message>
      <source>“{name}” is meant to be used with a system prompt of its own.</source>
      <translation>„{name}“ ist für einen eigenen Systemprompt gedacht.</translation>
    </message>
    <message>
      <source>Use it</source>
      <translation>Verwenden</translation>
    </message>
    <message>
      <source>Use the system prompt of {name}</source>
      <translation>Den Systemprompt von {name} verwenden</translation>
    </message>
  </context>
  <context>
    <name>History</name>
    <message>
      <source>Active</source>
      <translation>Aktiv</translation>
    </message>
    <message>
      <source>Stopped</source>
      <translation>Angehalten</translation>
    </message>
    <message>
      <source>Requested</source>
      <translation>Angefordert</translation>
    </message>
    <message>
      <source>Validated</source>
      <translation>Geprüft</translation>
    </message>
    <message>
      <source>Staged</source>
      <translation>Bereitgestellt</translation>
    </message>
    <message>
      <source>Committed</source>
      <translation>Übernommen</translation>
    </message>
    <message>
      <source>Aborted</source>
      <translation>Abgebrochen</translation>
    </message>
    <message>
      <source>load the base</source>
      <translation>Basis laden</translation>
    </message>
    <message>
      <source>load the adapters</source>
      <translation>Adapter laden</translation>
    </message>
    <message>
      <source>probe</source>
      <translation>Probe</translation>
    </message>
    <message>
      <source>Was active</source>
      <translation>War aktiv</translation>
    </message>
    <message>
      <source>Failed</source>
      <translation>Gescheitert</translation>
    </message>
    <message>
      <source>Window</source>
      <translation>Fenster</translation>
    </message>
    <message>
      <source>Command line</source>
      <translation>Kommandozeile</translation>
    </message>
    <message>
      <source>Another program</source>
      <translation>Anderes Programm</translation>
    </message>
    <message>
      <source>Recovery</source>
      <translation>Wiederherstellung</translation>
    </message>
    <message>
      <source>{title}, back to {n}</source>
      <translation>{title}, zurück zu {n}</translation>
    </message>
    <message>
      <source>Composition</source>
      <translation>Komposition</translation>
    </message>
    <message>
      <source>Asked by</source>
      <translation>Verlangt von</translation>
    </message>
    <message>
      <source>State</source>
      <translation>Zustand</translation>
    </message>
    <message>
      <source>When</source>
      <translation>Wann</translation>
    </message>
    <message>
      <source>Took</source>
      <translation>Dauer</translation>
    </message>
  </context>
  <context>
    <name>HistoryPlace</name>
    <message>
      <source>Generations</source>
      <translation>Generationen</translation>
    </message>
    <message>
      <source>Show older ones</source>
      <translation>Ältere zeigen</translation>
    </message>
    <message>
      <source>Nothing has been active yet</source>
      <translation>Noch war nichts aktiv</translation>
    </message>
    <message>
      <source>Each time a stack is activated, a generation is written down here with its steps and times. You can return to any of them.</source>
      <translation>Jede Aktivierung eines Stapels wird hier als Generation mit ihren Schritten und Zeiten festgehalten. Sie können zu jeder zurückkehren.</translation>
    </message>
    <message>
      <source>History</source>
      <translation>Verlauf</translation>
    </message>
  </context>
  <context>
    <name>HubToken</name>
    <message>
      <source>Hub token</source>
      <translation>Hub-Token</translation>
    </message>
    <message>
      <source>Keep</source>
      <translation>Behalten</translation>
    </message>
    <message>
      <source>Forget</source>
      <translation>Vergessen</translation>
    </message>
    <message>
      <source>In the keyring</source>
      <translation>Im Schlüsselbund</translation>
    </message>
    <message>
      <source>None</source>
      <translation>Keines</translation>
    </message>
  </context>
  <context>
    <name>ImportQueue</name>
    <message>
      <source>Base “{name}” is in the library.</source>
      <translation>Die Basis „{name}“ ist in der Bibliothek.</translation>
    </message>
    <message>
      <source>Adapter “{name}” is in the library.</source>
      <translation>Der Adapter „{name}“ ist in der Bibliothek.</translation>
    </message>
    <message>
      <source>The stack “{name}” is here.</source>
      <translation>Der Stapel „{name}“ ist da.</translation>
    </message>
    <message>
      <source>The stack “{name}” was here already.</source>
      <translation>Der Stapel „{name}“ war schon da.</translation>
    </message>
    <message>
      <source>Base “{name}” was here already.</source>
      <translation>Die Basis „{name}“ war schon da.</translation>
    </message>
    <message>
      <source>Adapter “{name}” was here already.</source>
      <translation>Der Adapter „{name}“ war schon da.</translation>
    </message>
  </context>
  <context>
    <name>ImportRow</name>
    <message>
      <source>Progress of this import</source>
      <translation>Fortschritt dieses Imports</translation>
    </message>
    <message>
      <source>Stop this import</source>
      <translation>Diesen Import anhalten</translation>
    </message>
    <message>
      <source>Copy details</source>
      <translation>Einzelheiten kopieren</translation>
    </message>
    <message>
      <source>Dismiss</source>
      <translation>Ausblenden</translation>
    </message>
    <message>
      <source>Waiting…</source>
      <translation>Wartet…</translation>
    </message>
    <message>
      <source>{size}/s</source>
      <translation>{size}/s</translation>
    </message>
  </context>
  <context>
    <name>ImportTray</name>
    <message>
      <source>Imports</source>
      <translation>Importe</translation>
    </message>
  </context>
  <context>
    <name>LayerCard</name>
    <message>
      <source>Adapter {name}</source>
      <translation>Adapter {name}</translation>
    </message>
    <message>
      <source>{name} is on</source>
      <translation>{name} ist an</translation>
    </message>
    <message>
      <source>On or off</source>
      <translation>An oder aus</translation>
    </message>
    <message>
      <source>Only {name} (solo)</source>
      <translation>Nur {name} (Solo)</translation>
    </message>
    <message>
      <source>Move {name} up</source>
      <translation>{name} nach oben</translation>
    </message>
    <message>
      <source>Move {name} down</source>
      <translation>{name} nach unten</translation>
    </message>
    <message>
      <source>Take {name} out</source>
      <translation>{name} herausnehmen</translation>
    </message>
    <message>
      <source>Back to the default strength of {name}, {scale}</source>
      <translation>Zurück zur üblichen Stärke von {name}, {scale}</translation>
    </message>
    <message>
      <source>{n} of {of} tensors</source>
      <translation>{n} von {of} Tensoren</translation>
    </message>
    <message>
      <source>The strength that the blend gives it</source>
      <translation>Die Stärke, die die Mischung ihm gibt</translation>
    </message>
  </context>
  <context>
    <name>Library</name>
    <message>
      <source>Base</source>
      <translation>Basis</translation>
    </message>
    <message>
      <source>Refused</source>
      <translation>Abgelehnt</translation>
    </message>
    <message>
      <source>Unsure</source>
      <translation>Unsicher</translation>
    </message>
    <message>
      <source>{n} of {of}</source>
      <translation>{n} von {of}</translation>
    </message>
    <message>
      <source>Applies {n} of {of} tensors</source>
      <translation>Wirkt auf {n} von {of} Tensoren</translation>
    </message>
    <message>
      <source> And {n} more.</source>
      <translation> Und {n} weitere.</translation>
    </message>
    <message>
      <source>Refused ({applies}). {reasons}</source>
      <translation>Abgelehnt ({applies}). {reasons}</translation>
    </message>
    <message>
      <source>Made for exactly this base.</source>
      <translation>Genau für diese Basis gemacht.</translation>
    </message>
    <message>
      <source>Made for a model of this name.</source>
      <translation>Für ein Modell dieses Namens gemacht.</translation>
    </message>
    <message>
      <source>Name</source>
      <translation>Name</translation>
    </message>
    <message>
      <source>Kind</source>
      <translation>Art</translation>
    </message>
    <message>
      <source>Rank</source>
      <translation>Rang</translation>
    </message>
    <message>
      <source>Tensors</source>
      <translation>Tensoren</translation>
    </message>
    <message>
      <source>Size</source>
      <translation>Größe</translation>
    </message>
    <message>
      <source>Made for</source>
      <translation>Gemacht für</translation>
    </message>
    <message>
      <source>Fits</source>
      <translation>Passt</translation>
    </message>
  </context>
  <context>
    <name>LibraryPlace</name>
    <message>
      <source>Bases and adapters</source>
      <translation>Basen und Adapter</translation>
    </message>
    <message>
      <source>Search the library</source>
      <translation>Bibliothek durchsuchen</translation>
    </message>
    <message>
      <source>Search</source>
      <translation>Suchen</translation>
    </message>
    <message>
      <source>Which kind to show</source>
      <translation>Welche Art gezeigt wird</translation>
    </message>
    <message>
      <source>All kinds</source>
      <translation>Alle Arten</translation>
    </message>
    <message>
      <source>Which fit to show</source>
      <translation>Welche Eignung gezeigt wird</translation>
    </message>
    <message>
      <source>Any fit</source>
      <translation>Jede Eignung</translation>
    </message>
    <message>
      <source>Fits</source>
      <translation>Passt</translation>
    </message>
    <message>
      <source>Unsure</source>
      <translation>Unsicher</translation>
    </message>
    <message>
      <source>Refused</source>
      <translation>Abgelehnt</translation>
    </message>
    <message>
      <source>Judge adapters against this base</source>
      <translation>Adapter an dieser Basis messen</translation>
    </message>
    <message>
      <source>Add the demo adapters</source>
      <translation>Die Demo-Adapter hinzufügen</translation>
    </message>
    <message>
      <source>Fit for</source>
      <translation>Passend zu</translation>
    </message>
    <message>
      <source>Library</source>
      <translation>Bibliothek</translation>
    </message>
    <message>
      <source>Nothing here yet</source>
      <translation>Noch ist nichts hier</translation>
    </message>
    <message>
      <source>Drop a GGUF model onto this window to begin, then LoRA adapters: GGUF files, safetensors files or PEFT folders. Nothing is ever written to your files.</source>
      <translation>Ziehen Sie zu Beginn ein GGUF-Modell auf dieses Fenster, dann LoRA-Adapter: GGUF-Dateien, safetensors-Dateien oder PEFT-Ordner. In Ihre Dateien wird nie etwas geschrieben.</translation>
    </message>
    <message>
      <source>Import files…</source>
      <translation>Dateien importieren…</translation>
    </message>
    <message>
      <source>Use the embedded model</source>
      <translation>Das mitgelieferte Modell verwenden</translation>
    </message>
    <message>
      <source>{n} of {of}</source>
      <translation>{n} von {of}</translation>
    </message>
    <message>
      <source>{of}</source>
      <translation>{of}</translation>
    </message>
  </context>
  <context>
    <name>LogDialog</name>
    <message>
      <source>What llama.cpp printed</source>
      <translation>Was llama.cpp ausgab</translation>
    </message>
    <message>
      <source>Log</source>
      <translation>Protokoll</translation>
    </message>
    <message>
      <source>Nothing yet: no model has run.</source>
      <translation>Noch nichts: es lief kein Modell.</translation>
    </message>
    <message>
      <source>Read again</source>
      <translation>Neu lesen</translation>
    </message>
    <message>
      <source>Copy</source>
      <translation>Kopieren</translation>
    </message>
    <message>
      <source>Close</source>
      <translation>Schließen</translation>
    </message>
  </context>
  <context>
    <name>MainWindow</name>
    <message>
      <source>Chat</source>
      <translation>Chat</translation>
    </message>
    <message>
      <source>Library</source>
      <translation>Bibliothek</translation>
    </message>
    <message>
      <source>Stacks</source>
      <translation>Stapel</translation>
    </message>
    <message>
      <source>History</source>
      <translation>Verlauf</translation>
    </message>
    <message>
      <source>Settings</source>
      <translation>Einstellungen</translation>
    </message>
    <message>
      <source>Does it belong on this base?</source>
      <translation>Gehört er auf diese Basis?</translation>
    </message>
    <message>
      <source>If you know that it does, activate it; this is kept in the history.</source>
      <translation>Wenn Sie das wissen, aktivieren Sie ihn; es wird im Verlauf festgehalten.</translation>
    </message>
    <message>
      <source>Activate</source>
      <translation>Aktivieren</translation>
    </message>
    <message>
      <source>The stack “{name}” is in {path} ({size}).</source>
      <translation>Der Stapel „{name}“ ist in {path} ({size}).</translation>
    </message>
    <message>
      <source>No stack is pinned to key {key}. A stack's menu in Stacks does that.</source>
      <translation>Auf Taste {key} liegt kein Stapel. Das Menü eines Stapels legt ihn dorthin.</translation>
    </message>
    <message>
      <source>Generation {n} could not be used and was replaced: {why}</source>
      <translation>Generation {n} war nicht zu gebrauchen und wurde ersetzt: {why}</translation>
    </message>
    <message>
      <source>Import models, adapters and stacks</source>
      <translation>Modelle, Adapter und Stapel importieren</translation>
    </message>
    <message>
      <source>Models, adapters and stacks ({patterns})</source>
      <translation>Modelle, Adapter und Stapel ({patterns})</translation>
    </message>
    <message>
      <source>All files (*)</source>
      <translation>Alle Dateien (*)</translation>
    </message>
    <message>
      <source>Import from a hub</source>
      <translation>Von einem Hub importieren</translation>
    </message>
    <message>
      <source>OWNER/NAME, or the address of the adapter's page:</source>
      <translation>BESITZER/NAME oder die Adresse der Seite des Adapters:</translation>
    </message>
  </context>
  <context>
    <name>Maker</name>
    <message>
      <source>What made this answer</source>
      <translation>Woher diese Antwort kommt</translation>
    </message>
    <message>
      <source>Activate again</source>
      <translation>Wieder aktivieren</translation>
    </message>
    <message>
      <source>Copy id</source>
      <translation>Kennung kopieren</translation>
    </message>
    <message>
      <source>Generation {n}</source>
      <translation>Generation {n}</translation>
    </message>
    <message>
      <source>What it was made of is not known any more.</source>
      <translation>Woraus sie bestand, ist nicht mehr bekannt.</translation>
    </message>
    <message>
      <source>It is active.</source>
      <translation>Sie ist aktiv.</translation>
    </message>
    <message>
      <source>over {base}</source>
      <translation>über {base}</translation>
    </message>
  </context>
  <context>
    <name>Memory</name>
    <message>
      <source>Memory</source>
      <translation>Speicher</translation>
    </message>
    <message>
      <source>Needs {needed} of {limit} of memory</source>
      <translation>Braucht {needed} von {limit} Speicher</translation>
    </message>
    <message>
      <source>Needs {needed} of memory, but only {limit} may be used</source>
      <translation>Braucht {needed} Speicher, aber nur {limit} dürfen verwendet werden</translation>
    </message>
    <message>
      <source>base {size}</source>
      <translation>Basis {size}</translation>
    </message>
    <message>
      <source>context {size}</source>
      <translation>Kontext {size}</translation>
    </message>
    <message>
      <source>adapters {size}</source>
      <translation>Adapter {size}</translation>
    </message>
    <message>
      <source>runtime {size}</source>
      <translation>Laufzeit {size}</translation>
    </message>
  </context>
  <context>
    <name>Meter</name>
    <message>
      <source>How full the context is</source>
      <translation>Wie voll der Kontext ist</translation>
    </message>
    <message>
      <source>Tokens of this conversation in the context. When it is full, the oldest turns are not told to the model any more; they stay in the conversation.</source>
      <translation>Tokens dieses Gesprächs im Kontext. Ist er voll, werden die ältesten Beiträge dem Modell nicht mehr mitgeteilt; im Gespräch bleiben sie.</translation>
    </message>
    <message>
      <source>{used} of {of} tokens</source>
      <translation>{used} von {of} Tokens</translation>
    </message>
    <message>
      <source>{said}, {n} messages left out</source>
      <translation>{said}, {n} Nachrichten ausgelassen</translation>
    </message>
  </context>
  <context>
    <name>Notes</name>
    <message>
      <source>Default strength</source>
      <translation>Übliche Stärke</translation>
    </message>
    <message>
      <source>Trigger text</source>
      <translation>Auslösetext</translation>
    </message>
    <message>
      <source>Words that call it</source>
      <translation>Wörter, die ihn rufen</translation>
    </message>
    <message>
      <source>Copy the trigger text</source>
      <translation>Auslösetext kopieren</translation>
    </message>
    <message>
      <source>Tags</source>
      <translation>Schlagwörter</translation>
    </message>
    <message>
      <source>With commas between them</source>
      <translation>Durch Kommas getrennt</translation>
    </message>
    <message>
      <source>Notes</source>
      <translation>Notizen</translation>
    </message>
    <message>
      <source>Anything worth remembering</source>
      <translation>Alles Merkenswerte</translation>
    </message>
    <message>
      <source>Recommended system prompt</source>
      <translation>Empfohlener System-Prompt</translation>
    </message>
    <message>
      <source>What it was trained to be told first</source>
      <translation>Was ihm beim Training vorausging</translation>
    </message>
    <message>
      <source>License</source>
      <translation>Lizenz</translation>
    </message>
    <message>
      <source>If you know it</source>
      <translation>Falls bekannt</translation>
    </message>
  </context>
  <context>
    <name>NoticeBar</name>
    <message>
      <source>Message</source>
      <translation>Meldung</translation>
    </message>
    <message>
      <source>Copy</source>
      <translation>Kopieren</translation>
    </message>
    <message>
      <source>Dismiss this message</source>
      <translation>Diese Meldung ausblenden</translation>
    </message>
    <message>
      <source>Retry</source>
      <translation>Erneut versuchen</translation>
    </message>
    <message>
      <source>Details</source>
      <translation>Einzelheiten</translation>
    </message>
  </context>
  <context>
    <name>Opening</name>
    <message>
      <source>The workspace cannot be opened.</source>
      <translation>Der Arbeitsbereich lässt sich nicht öffnen.</translation>
    </message>
  </context>
  <context>
    <name>Pile</name>
    <message>
      <source>Only the base so far. Add an adapter, or drag one here from the list.</source>
      <translation>Bisher nur die Basis. Fügen Sie einen Adapter hinzu oder ziehen Sie einen aus der Liste hierher.</translation>
    </message>
  </context>
  <context>
    <name>Presets</name>
    <message>
      <source>Balanced</source>
      <translation>Ausgewogen</translation>
    </message>
    <message>
      <source>Precise</source>
      <translation>Genau</translation>
    </message>
    <message>
      <source>Inventive</source>
      <translation>Erfinderisch</translation>
    </message>
    <message>
      <source>Greedy</source>
      <translation>Gierig</translation>
    </message>
  </context>
  <context>
    <name>Question</name>
    <message>
      <source>Question</source>
      <translation>Frage</translation>
    </message>
    <message>
      <source>Answer this question</source>
      <translation>Diese Frage beantworten</translation>
    </message>
    <message>
      <source>Ask it in other words</source>
      <translation>Anders fragen</translation>
    </message>
    <message>
      <source>Delete from here on</source>
      <translation>Ab hier löschen</translation>
    </message>
    <message>
      <source>Copy this question</source>
      <translation>Diese Frage kopieren</translation>
    </message>
  </context>
  <context>
    <name>SettingsPlace</name>
    <message>
      <source>With layers on a GPU, adapters take llama.cpp's own lane if it can run them. Veneer's lane copies each result that it edits from the GPU and back, which makes every token slower.</source>
      <translation>Mit Schichten auf der GPU nehmen Adapter llama.cpps eigenen Weg, wenn er sie ausführen kann. Veneers Weg kopiert jedes Ergebnis, das er ändert, von der GPU und zurück, was jedes Token langsamer macht.</translation>
    </message>
    <message>
      <source>Show the log…</source>
      <translation>Protokoll zeigen…</translation>
    </message>
    <message>
      <source>Takes effect at the next activation.</source>
      <translation>Gilt ab der nächsten Aktivierung.</translation>
    </message>
    <message>
      <source>Runtime</source>
      <translation>Laufzeit</translation>
    </message>
    <message>
      <source>Memory</source>
      <translation>Speicher</translation>
    </message>
    <message>
      <source>Switching</source>
      <translation>Wechseln</translation>
    </message>
    <message>
      <source>Appearance</source>
      <translation>Aussehen</translation>
    </message>
    <message>
      <source>Whichever is faster</source>
      <translation>Der schnellere</translation>
    </message>
    <message>
      <source>llama.cpp's own (stock)</source>
      <translation>llama.cpps eigener (stock)</translation>
    </message>
    <message>
      <source>Veneer's (overlay)</source>
      <translation>Veneers (overlay)</translation>
    </message>
    <message>
      <source>Context (tokens)</source>
      <translation>Kontext (Token)</translation>
    </message>
    <message>
      <source>Threads</source>
      <translation>Threads</translation>
    </message>
    <message>
      <source>Layers on the GPU</source>
      <translation>Schichten auf der GPU</translation>
    </message>
    <message>
      <source>Only this GPU</source>
      <translation>Nur diese GPU</translation>
    </message>
    <message>
      <source>Whichever there is</source>
      <translation>Welche es gibt</translation>
    </message>
    <message>
      <source>KV cache type</source>
      <translation>Typ des KV-Speichers</translation>
    </message>
    <message>
      <source>Lane of the adapters</source>
      <translation>Weg der Adapter</translation>
    </message>
    <message>
      <source>None</source>
      <translation>Keiner</translation>
    </message>
    <message>
      <source>Memory budget</source>
      <translation>Speicherbudget</translation>
    </message>
    <message>
      <source>What is free</source>
      <translation>Was frei ist</translation>
    </message>
    <message>
      <source>For adapters kept loaded</source>
      <translation>Für geladene Adapter</translation>
    </message>
    <message>
      <source>For conversations kept computed</source>
      <translation>Für berechnete Gespräche</translation>
    </message>
    <message>
      <source>The same, on disk</source>
      <translation>Dasselbe, auf der Platte</translation>
    </message>
    <message>
      <source>Stop the answer</source>
      <translation>Antwort anhalten</translation>
    </message>
    <message>
      <source>Refuse the switch</source>
      <translation>Wechsel ablehnen</translation>
    </message>
    <message>
      <source>While an answer is written</source>
      <translation>Während einer Antwort</translation>
    </message>
    <message>
      <source>Signatures</source>
      <translation>Signaturen</translation>
    </message>
    <message>
      <source>Activate only what a trusted key has signed</source>
      <translation>Nur von vertrauten Schlüsseln Signiertes aktivieren</translation>
    </message>
    <message>
      <source>Generations to keep</source>
      <translation>Aufbewahrte Generationen</translation>
    </message>
    <message>
      <source>Like the system</source>
      <translation>Wie das System</translation>
    </message>
    <message>
      <source>Light</source>
      <translation>Hell</translation>
    </message>
    <message>
      <source>Dark</source>
      <translation>Dunkel</translation>
    </message>
    <message>
      <source>Theme</source>
      <translation>Farbschema</translation>
    </message>
    <message>
      <source>Language (from the next start)</source>
      <translation>Sprache (ab dem nächsten Start)</translation>
    </message>
    <message>
      <source>Settings</source>
      <translation>Einstellungen</translation>
    </message>
    <message>
      <source>What appears in them is imported when it is complete.</source>
      <translation>Was darin erscheint, wird importiert, sobald es vollständig ist.</translation>
    </message>
    <message>
      <source>Watched folders</source>
      <translation>Beobachtete Ordner</translation>
    </message>
    <message>
      <source>Opens private repositories and those that ask for permission. The system's keyring keeps it, and no file.</source>
      <translation>Öffnet private Repositorien und solche, die um Erlaubnis fragen. Es liegt im Schlüsselbund des Systems und in keiner Datei.</translation>
    </message>
    <message>
      <source>Hub</source>
      <translation>Hub</translation>
    </message>
    <message>
      <source>Token</source>
      <translation>Token</translation>
    </message>
    <message>
      <source>About</source>
      <translation>Über</translation>
    </message>
    <message>
      <source>Workspace</source>
      <translation>Arbeitsbereich</translation>
    </message>
    <message>
      <source>Versions</source>
      <translation>Versionen</translation>
    </message>
    <message>
      <source>Worker</source>
      <translation>Arbeitsprozess</translation>
    </message>
    <message>
      <source>Whose signatures count. “veneer key” shows your own key.</source>
      <translation>Wessen Signaturen zählen. „veneer key“ zeigt Ihren eigenen Schlüssel.</translation>
    </message>
    <message>
      <source>Trusted keys</source>
      <translation>Vertraute Schlüssel</translation>
    </message>
  </context>
  <context>
    <name>SetupPanel</name>
    <message>
      <source>How this conversation is held</source>
      <translation>Wie dieses Gespräch geführt wird</translation>
    </message>
    <message>
      <source>What the model is told before everything else</source>
      <translation>Was dem Modell vor allem anderen gesagt wird</translation>
    </message>
    <message>
      <source>System prompt</source>
      <translation>System-Prompt</translation>
    </message>
    <message>
      <source>Greedy: always the likeliest token</source>
      <translation>Gierig: immer das wahrscheinlichste Token</translation>
    </message>
    <message>
      <source>Temperature</source>
      <translation>Temperatur</translation>
    </message>
    <message>
      <source>Top k</source>
      <translation>Top-k</translation>
    </message>
    <message>
      <source>Top p</source>
      <translation>Top-p</translation>
    </message>
    <message>
      <source>Min p</source>
      <translation>Min-p</translation>
    </message>
    <message>
      <source>Repeat penalty</source>
      <translation>Wiederholungsstrafe</translation>
    </message>
    <message>
      <source>Most tokens</source>
      <translation>Höchstens Tokens</translation>
    </message>
    <message>
      <source>Seed</source>
      <translation>Startwert</translation>
    </message>
    <message>
      <source>random</source>
      <translation>zufällig</translation>
    </message>
    <message>
      <source>Preset</source>
      <translation>Voreinstellung</translation>
    </message>
    <message>
      <source>Choose a preset</source>
      <translation>Voreinstellung wählen</translation>
    </message>
    <message>
      <source>Name of a new preset</source>
      <translation>Name einer neuen Voreinstellung</translation>
    </message>
    <message>
      <source>Keep this as…</source>
      <translation>Dies behalten als…</translation>
    </message>
    <message>
      <source>Keep</source>
      <translation>Behalten</translation>
    </message>
    <message>
      <source>Delete this preset</source>
      <translation>Diese Voreinstellung löschen</translation>
    </message>
    <message>
      <source>Sampling</source>
      <translation>Sampling</translation>
    </message>
    <message>
      <source>Presets</source>
      <translation>Voreinstellungen</translation>
    </message>
  </context>
  <context>
    <name>Shelf</name>
    <message>
      <source>Replace the stack “{name}”?</source>
      <translation>Den Stapel „{name}“ ersetzen?</translation>
    </message>
    <message>
      <source>There is one of this name. What it was stays in the history.</source>
      <translation>Es gibt einen dieses Namens. Was er war, bleibt im Verlauf.</translation>
    </message>
    <message>
      <source>Replace</source>
      <translation>Ersetzen</translation>
    </message>
    <message>
      <source>Stack</source>
      <translation>Stapel</translation>
    </message>
    <message>
      <source>Remove the stack “{name}”?</source>
      <translation>Den Stapel „{name}“ entfernen?</translation>
    </message>
    <message>
      <source>Its adapters stay in the library, and the history stays as it is.</source>
      <translation>Seine Adapter bleiben in der Bibliothek, und der Verlauf bleibt, wie er ist.</translation>
    </message>
    <message>
      <source>Remove</source>
      <translation>Entfernen</translation>
    </message>
    <message>
      <source>The stack “{name}” cannot be read</source>
      <translation>Der Stapel „{name}“ ist nicht lesbar</translation>
    </message>
    <message>
      <source>Export the stack</source>
      <translation>Stapel exportieren</translation>
    </message>
    <message>
      <source>Stacks (*{suffix})</source>
      <translation>Stapel (*{suffix})</translation>
    </message>
  </context>
  <context>
    <name>SideView</name>
    <message>
      <source>Answer {n}</source>
      <translation>Antwort {n}</translation>
    </message>
    <message>
      <source>This one is better (Ctrl+Alt+{n})</source>
      <translation>Diese ist besser (Strg+Alt+{n})</translation>
    </message>
    <message>
      <source>Better</source>
      <translation>Besser</translation>
    </message>
    <message>
      <source>Waiting…</source>
      <translation>Wartet…</translation>
    </message>
    <message>
      <source>Answering…</source>
      <translation>Antwortet…</translation>
    </message>
    <message>
      <source>No answer</source>
      <translation>Keine Antwort</translation>
    </message>
  </context>
  <context>
    <name>StackMenu</name>
    <message>
      <source>Duplicate</source>
      <translation>Duplizieren</translation>
    </message>
    <message>
      <source>Rename</source>
      <translation>Umbenennen</translation>
    </message>
    <message>
      <source>Export…</source>
      <translation>Exportieren…</translation>
    </message>
    <message>
      <source>Pin to a key</source>
      <translation>Auf eine Taste legen</translation>
    </message>
    <message>
      <source>Remove…</source>
      <translation>Entfernen…</translation>
    </message>
    <message>
      <source>Key {key}: {stack}</source>
      <translation>Taste {key}: {stack}</translation>
    </message>
    <message>
      <source>Key {key}</source>
      <translation>Taste {key}</translation>
    </message>
    <message>
      <source>No key</source>
      <translation>Keine Taste</translation>
    </message>
  </context>
  <context>
    <name>Stacks</name>
    <message>
      <source>New stack</source>
      <translation>Neuer Stapel</translation>
    </message>
    <message>
      <source>Cannot be read</source>
      <translation>Nicht lesbar</translation>
    </message>
    <message>
      <source>Not saved yet</source>
      <translation>Noch nicht gespeichert</translation>
    </message>
    <message>
      <source>Base only</source>
      <translation>Nur die Basis</translation>
    </message>
    <message>
      <source>{n} tensors</source>
      <translation>{n} Tensoren</translation>
    </message>
    <message>
      <source>rank {rank}, {n} tensors</source>
      <translation>Rang {rank}, {n} Tensoren</translation>
    </message>
    <message>
      <source>Saved stacks</source>
      <translation>Gespeicherte Stapel</translation>
    </message>
    <message>
      <source>Adapters; Enter adds one</source>
      <translation>Adapter; Eingabe fügt einen hinzu</translation>
    </message>
    <message>
      <source>Search the adapters</source>
      <translation>Adapter durchsuchen</translation>
    </message>
    <message>
      <source>Search</source>
      <translation>Suchen</translation>
    </message>
    <message>
      <source>Name of the stack</source>
      <translation>Name des Stapels</translation>
    </message>
    <message>
      <source>Name this stack</source>
      <translation>Diesen Stapel benennen</translation>
    </message>
    <message>
      <source>Undo (Ctrl+Z)</source>
      <translation>Rückgängig (Strg+Z)</translation>
    </message>
    <message>
      <source>Redo (Ctrl+Shift+Z)</source>
      <translation>Wiederholen (Strg+Umschalt+Z)</translation>
    </message>
    <message>
      <source>More about this stack</source>
      <translation>Mehr zu diesem Stapel</translation>
    </message>
    <message>
      <source>Save</source>
      <translation>Speichern</translation>
    </message>
    <message>
      <source>Activate</source>
      <translation>Aktivieren</translation>
    </message>
    <message>
      <source>How the adapters are combined</source>
      <translation>Wie die Adapter verbunden werden</translation>
    </message>
    <message>
      <source>Sum</source>
      <translation>Summe</translation>
    </message>
    <message>
      <source>Blend</source>
      <translation>Mischung</translation>
    </message>
    <message>
      <source>Blend shares a budget among the adapters by their strengths</source>
      <translation>Die Mischung teilt ein Budget nach Stärke unter den Adaptern auf</translation>
    </message>
    <message>
      <source>What the strengths of the blend add up to</source>
      <translation>Worauf sich die Stärken der Mischung summieren</translation>
    </message>
    <message>
      <source>Add adapter</source>
      <translation>Adapter hinzufügen</translation>
    </message>
    <message>
      <source>The signature by {key} does not fit: it was changed since.</source>
      <translation>Die Signatur von {key} passt nicht: Seither wurde etwas geändert.</translation>
    </message>
    <message>
      <source>Signed by {whose}, whose key is trusted: {key}</source>
      <translation>Signiert von {whose}, dessen Schlüssel vertraut wird: {key}</translation>
    </message>
    <message>
      <source>Signed by {key}, which nobody here trusts.</source>
      <translation>Signiert von {key}, dem hier niemand vertraut.</translation>
    </message>
    <message>
      <source>Type a name, then save</source>
      <translation>Namen eingeben, dann speichern</translation>
    </message>
    <message>
      <source>Stacks</source>
      <translation>Stapel</translation>
    </message>
    <message>
      <source>Adapters</source>
      <translation>Adapter</translation>
    </message>
    <message>
      <source>Cards</source>
      <translation>Karten</translation>
    </message>
  </context>
  <context>
    <name>StacksPlace</name>
    <message>
      <source>A stack begins with a base</source>
      <translation>Ein Stapel beginnt mit einer Basis</translation>
    </message>
    <message>
      <source>Drop a GGUF model onto this window; then adapters can be laid over it.</source>
      <translation>Ziehen Sie ein GGUF-Modell auf dieses Fenster; dann lassen sich Adapter darüberlegen.</translation>
    </message>
    <message>
      <source>Import files…</source>
      <translation>Dateien importieren…</translation>
    </message>
    <message>
      <source>Use the embedded model</source>
      <translation>Das mitgelieferte Modell verwenden</translation>
    </message>
  </context>
  <context>
    <name>Steps</name>
    <message>
      <source>Validate</source>
      <translation>Prüfen</translation>
    </message>
    <message>
      <source>Stage</source>
      <translation>Bereitstellen</translation>
    </message>
    <message>
      <source>Commit</source>
      <translation>Festschreiben</translation>
    </message>
    <message>
      <source>Stop this activation</source>
      <translation>Diese Aktivierung anhalten</translation>
    </message>
    <message>
      <source>Activation</source>
      <translation>Aktivierung</translation>
    </message>
    <message>
      <source>Active already; nothing had to be done.</source>
      <translation>Schon aktiv; es war nichts zu tun.</translation>
    </message>
    <message>
      <source>Not activated; what was active still is.</source>
      <translation>Nicht aktiviert; was aktiv war, ist es noch.</translation>
    </message>
  </context>
  <context>
    <name>Strength</name>
    <message>
      <source>Strength of {name}</source>
      <translation>Stärke von {name}</translation>
    </message>
    <message>
      <source>Exact strength of {name}</source>
      <translation>Genaue Stärke von {name}</translation>
    </message>
  </context>
  <context>
    <name>Switcher</name>
    <message>
      <source>What answers</source>
      <translation>Was antwortet</translation>
    </message>
    <message>
      <source>Base only</source>
      <translation>Nur die Basis</translation>
    </message>
  </context>
  <context>
    <name>Targets</name>
    <message>
      <source>Target</source>
      <translation>Ziel</translation>
    </message>
    <message>
      <source>Change</source>
      <translation>Änderung</translation>
    </message>
    <message>
      <source>Rank</source>
      <translation>Rang</translation>
    </message>
    <message>
      <source>Shape</source>
      <translation>Form</translation>
    </message>
    <message>
      <source>Scale</source>
      <translation>Stärke</translation>
    </message>
  </context>
  <context>
    <name>TargetsDialog</name>
    <message>
      <source>What “{name}” changes</source>
      <translation>Was „{name}“ ändert</translation>
    </message>
    <message>
      <source>Targets</source>
      <translation>Ziele</translation>
    </message>
    <message>
      <source>At the default strength of {scale}; a stack's own strength scales the same.</source>
      <translation>Bei der üblichen Stärke {scale}; die Stärke im Stapel wirkt ebenso.</translation>
    </message>
    <message>
      <source>Close</source>
      <translation>Schließen</translation>
    </message>
  </context>
  <context>
    <name>TopBar</name>
    <message>
      <source>Nothing is active</source>
      <translation>Nichts ist aktiv</translation>
    </message>
    <message>
      <source>Roll back</source>
      <translation>Zurückkehren</translation>
    </message>
    <message>
      <source>Import…</source>
      <translation>Importieren…</translation>
    </message>
    <message>
      <source>Import from a hub (Ctrl+Shift+O)</source>
      <translation>Von einem Hub importieren (Strg+Umschalt+O)</translation>
    </message>
    <message>
      <source>staging {title}…</source>
      <translation>{title} wird bereitgestellt…</translation>
    </message>
    <message>
      <source>switch failed</source>
      <translation>Wechsel gescheitert</translation>
    </message>
    <message>
      <source>active</source>
      <translation>aktiv</translation>
    </message>
  </context>
  <context>
    <name>Transcript</name>
    <message>
      <source>Transcript</source>
      <translation>Gesprächsverlauf</translation>
    </message>
    <message>
      <source>Thinking…</source>
      <translation>Denkt nach…</translation>
    </message>
    <message>
      <source>Answering…</source>
      <translation>Antwortet…</translation>
    </message>
    <message>
      <source>Try again</source>
      <translation>Erneut versuchen</translation>
    </message>
    <message>
      <source>The context is full: what is above is not told to the model any more</source>
      <translation>Der Kontext ist voll: Was darüber steht, wird dem Modell nicht mehr mitgeteilt</translation>
    </message>
  </context>
  <context>
    <name>Trusted</name>
    <message>
      <source>No key is trusted yet.</source>
      <translation>Noch wird keinem Schlüssel vertraut.</translation>
    </message>
    <message>
      <source>Public key</source>
      <translation>Öffentlicher Schlüssel</translation>
    </message>
    <message>
      <source>ed25519:…, as its owner sees it</source>
      <translation>ed25519:…, wie sein Besitzer ihn sieht</translation>
    </message>
    <message>
      <source>Whose key it is</source>
      <translation>Wessen Schlüssel es ist</translation>
    </message>
    <message>
      <source>Whose it is</source>
      <translation>Wessen er ist</translation>
    </message>
    <message>
      <source>Trust</source>
      <translation>Vertrauen</translation>
    </message>
    <message>
      <source>Trust the key of {name} no more</source>
      <translation>Dem Schlüssel von {name} nicht mehr vertrauen</translation>
    </message>
  </context>
  <context>
    <name>Watched</name>
    <message>
      <source>No folder is watched.</source>
      <translation>Es wird kein Ordner beobachtet.</translation>
    </message>
    <message>
      <source>Add a folder…</source>
      <translation>Ordner hinzufügen…</translation>
    </message>
    <message>
      <source>Stop watching {folder}</source>
      <translation>{folder} nicht mehr beobachten</translation>
    </message>
    <message>
      <source>Watch a folder</source>
      <translation>Ordner beobachten</translation>
    </message>
  </context>
  <context>
    <name>Wrapped</name>
    <message>
      <source>Copy</source>
      <translation>Kopieren</translation>
    </message>
  </context>
  <context>
    <name>_Input</name>
    <message>
      <source>Message</source>
      <translation>Meldung</translation>
    </message>
    <message>
      <source>Ask something</source>
      <translation>Fragen Sie etwas</translation>
    </message>
  </context>
</TS>
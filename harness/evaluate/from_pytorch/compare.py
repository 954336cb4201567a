# Runs a program that kbench prints of a task (pytorch_module()) on given tensors.
# tensors.py comes before it.
#
# Descriptor 0 has {"program": TEXT, "inputs": [tensor, ...], "parameters": {NAME: tensor}};
# descriptor 3 takes {"outputs": [tensor, ...]} or {"error": MESSAGE}.

def run(request):
    names = {}
    exec(compile(request["program"], "program.py", "exec"), names)
    model = names["ModelNew"]()
    own = model.parameters_by_name()
    for name, said in request["parameters"].items():
        own[name].copy_(tensor_of(said))
    outputs = model(*(tensor_of(each) for each in request["inputs"]))
    return [said_of(each) for each in ([outputs] if isinstance(outputs, torch.Tensor) else outputs)]


asked = json.load(sys.stdin)
try:
    with torch.no_grad():
        answer = {"outputs": run(asked)}
except Exception as error:
    answer = {"error": " ".join(f"{type(error).__name__}: {error}"[:500].split())}
with os.fdopen(3, "w") as channel:
    json.dump(answer, channel)
